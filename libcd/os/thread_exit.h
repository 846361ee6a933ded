// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "os/system.h"

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace cd::os {

// Calls forget() with a thread's value when the thread ends, except for the main thread. Unlike a
// thread_local object with a destructor, it reports a lack of memory and does not end the process.
template <void (*forget)(void *)> class ThreadExit {
public:
    // Sets the calling thread's value. False without memory.
    static bool set_value(void *value) {
        return has_key() && system().set_for_thread(static_cast<pthread_key_t>(key_), value) == 0;
    }

private:
    // Creates the key without a lock, which a forked process could inherit locked. Of two threads
    // that create a key one gives it up.
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
