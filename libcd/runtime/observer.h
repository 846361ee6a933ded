// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/cd.h"

#include <atomic>

namespace cd {

// A function that is called after operations. Never freed, since another thread may be about to
// call it; programs have few.
struct Observer {
    cd_event_fn notify;
    void *context;
    Observer *previous;
    std::atomic<int> running = 0; // calls, in all threads
};

// The present observer, or nullptr.
inline std::atomic<Observer *> observer = nullptr;

// Replaces the observer; notify may be nullptr. Returns when no call of an earlier observer runs
// any more, so it must not be called from one. May throw std::bad_alloc.
void set_observer(cd_event_fn notify, void *context);

// Calls listener, unless it has been replaced.
void notify(Observer &listener, const cd_event &event);

// Forgets, in a new process, the running calls of other threads.
void forget_other_threads_notifications();

} // namespace cd
