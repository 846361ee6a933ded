// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/fork.h"

#include "base/callback_scope.h"
#include "runtime/active_stack.h"
#include "runtime/observer.h"
#include "runtime/registry.h"

#include <pthread.h>

#include <mutex>

namespace cd {
namespace {

// A regen function may fork (to run a program, say) while its thread holds the locks of the
// restore. It cannot use the library in either process before it returns, so there is nothing to
// wait for.
bool inside_an_operation() { return CallbackScope::inside(); }

void before_fork() {
    if (!inside_an_operation()) {
        Registry::instance().lock_everything();
    }
}

void in_parent() {
    if (!inside_an_operation()) {
        Registry::instance().unlock_everything();
    }
}

void in_child() {
    forget_other_threads_notifications();
    if (inside_an_operation()) {
        return;
    }
    const uint64_t survivor = ActiveStack::calling_thread();
    Registry::instance().for_each([survivor](Resident &resident) {
        if (resident.active_in != survivor) {
            resident.active_in = 0;
        }
    });
    Registry::instance().unlock_everything();
}

} // namespace

void support_fork() {
    static std::once_flag once;
    std::call_once(once, [] { ::pthread_atfork(before_fork, in_parent, in_child); });
}

} // namespace cd
