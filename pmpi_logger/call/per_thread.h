// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

namespace cd::logger {

// The calling thread's own T, made when it first asks. All that lies in the block of thread-local
// memory that is there from the start is a pointer: a hot path reaches it without a call, and the
// block has little room if this library is loaded late.
template <typename T> T &of_this_thread() {
    [[gnu::tls_model("initial-exec")]] static constinit thread_local T *own = nullptr;
    struct EndOfThread {
        ~EndOfThread() {
            delete own;
            own = nullptr; // what comes still later makes one that is never freed
        }
    };
    if (own == nullptr) [[unlikely]] {
        static thread_local const EndOfThread end;
        (void)end;
        own = new T;
    }
    return *own;
}

} // namespace cd::logger
