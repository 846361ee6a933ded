// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/cd.h"

#include <atomic>

namespace cd {

// Who wants to hear of operations. Never freed, since another thread may be calling it; programs
// set one once.
struct Observer {
    cd_event_fn notify;
    void *context;
    Observer *previous;
};

// The present one, or nullptr: what an operation costs when nobody observes.
inline std::atomic<Observer *> observer = nullptr;

// notify nullptr: nobody observes. May throw std::bad_alloc.
void set_observer(cd_event_fn notify, void *context);

} // namespace cd
