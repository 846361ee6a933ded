// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/cd.h"

#include <atomic>

namespace cd {

// Who wants to hear of operations. Never freed, since another thread may be about to call it;
// programs have few.
struct Observer {
    cd_event_fn notify;
    void *context;
    Observer *previous;
    std::atomic<int> running = 0; // calls, in all threads
};

// The present one, or nullptr: what an operation costs when nobody observes.
inline std::atomic<Observer *> observer = nullptr;

// notify nullptr: nobody observes. Returns when no call of an earlier observer is running any more,
// so not to be called from inside one. May throw std::bad_alloc.
void set_observer(cd_event_fn notify, void *context);

// Calls listener, unless it has been replaced.
void notify(Observer &listener, const cd_event &event);

// In a new process: the calls that other threads were in do not end there.
void forget_other_threads_notifications();

} // namespace cd
