// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/fork.h"

#include "os/system.h"
#include "runtime/active_stack.h"
#include "runtime/observer.h"
#include "runtime/registry.h"

#include <atomic>

namespace cd {
namespace {

// Counts the handlers in the forking thread, which may be registered more than once (below).
constinit thread_local unsigned handlers_begun = 0;

void before_fork() {
    if (++handlers_begun == 1) {
        Registry::instance().lock_everything();
    }
}

void in_parent() {
    if (--handlers_begun > 0) {
        return;
    }
    Registry::instance().unlock_everything();
}

void in_child() {
    if (--handlers_begun > 0) {
        return;
    }
    forget_other_threads_notifications();
    const uint64_t survivor = ActiveStack::calling_thread();
    Registry::instance().for_each([survivor](Resident &resident) {
        if (resident.slot->active_in != survivor) {
            resident.slot->active_in = 0;
        }
        resident.log.leave_to_parent_process();
        if (resident.is_root() && resident.store != nullptr) {
            resident.store->leave_to_parent();
        }
    });
    ActiveStack::leave_log_to_parent_process();
    Registry::instance().forget_other_threads(survivor);
    Registry::instance().unlock_everything();
}

} // namespace

// Threads may register the handlers more than once, as does a process that was forked between the
// two statements. A mutex could stay locked for ever in such a process.
Status support_fork() {
    static constinit std::atomic<bool> supported = false;
    if (!supported) {
        if (os::system().at_fork(before_fork, in_parent, in_child) != 0) {
            return fail(CD_ERROR_NO_MEMORY,
                        "there is no memory for handlers when the process forks; free some and "
                        "create the CD again");
        }
        supported = true;
    }
    return Status::ok();
}

} // namespace cd
