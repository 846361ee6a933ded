// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "os/system.h"

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace cd::os {

// Has forget() called with a thread's value when the thread ends. A destructor of a thread_local
// object would do the same, but ends the process where there is no memory to remember it. That of
// the main thread is never called: exit() ends no thread.
template <void (*forget)(void *)> class EndOfThread {
public:
    // False: there is no memory, and nobody will.
    static bool will_forget(void *value) {
        return has_key() && system().set_for_thread(static_cast<pthread_key_t>(key_), value) == 0;
    }

private:
    // Without a lock, which another thread's fork could leave locked for ever in the new process:
    // of two threads that create a key one gives it up.
    static bool has_key() {
        if (key_ != none) {
            return true;
        }
        pthread_key_t key = 0;
        if (system().create_thread_key(key, forget) != 0) {
            return false;
        }
        int64_t expected = none;
        if (!key_.compare_exchange_strong(expected, key)) {
            system().delete_thread_key(key);
        }
        return true;
    }

    static constexpr int64_t none = -1;
    static inline constinit std::atomic<int64_t> key_ = none;
};

} // namespace cd::os
