// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/fork.h"

#include "runtime/active_stack.h"
#include "runtime/observer.h"
#include "runtime/registry.h"

#include <pthread.h>

#include <atomic>
#include <mutex>

namespace cd {
namespace {

void before_fork() { Registry::instance().lock_everything(); }

void in_parent() {
    Registry::instance().for_each([](Resident &resident) { resident.log.part_from_copy(); });
    Registry::instance().unlock_everything();
}

void in_child() {
    forget_other_threads_notifications();
    const uint64_t survivor = ActiveStack::calling_thread();
    Registry::instance().for_each([survivor](Resident &resident) {
        if (resident.active_in != survivor) {
            resident.active_in = 0;
        }
        resident.log.part_from_copy();
        resident.log.keep_for_this_thread();
        if (resident.is_root() && resident.ledger != nullptr) {
            resident.ledger->leave_to_parent();
        }
    });
    Registry::instance().forget_other_threads(survivor);
    Registry::instance().unlock_everything();
}

} // namespace

Status support_fork() {
    static std::atomic<bool> supported = false;
    static std::mutex mutex;
    if (supported) {
        return Status::ok();
    }
    const std::scoped_lock lock(mutex);
    if (!supported && ::pthread_atfork(before_fork, in_parent, in_child) != 0) {
        return fail(CD_ERROR_NO_MEMORY,
                    "there is no memory to be told when the process forks; free some and create "
                    "the CD again");
    }
    supported = true;
    return Status::ok();
}

} // namespace cd
