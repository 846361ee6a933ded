// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

namespace cd::logger {

// Each thread's own T, made when the thread first asks. All that lies in the block of thread-local
// memory that is there from the start is a pointer: a hot path reaches it without a call, and the
// block has little room if this library is loaded late.
template <typename T> class ThreadData {
public:
    static T &own() {
        if (own_ == nullptr) [[unlikely]] {
            make();
        }
        return *own_;
    }

    // The same if it is there already, else nullptr.
    static T *if_made() { return own_; }

private:
    struct EndOfThread {
        ~EndOfThread() {
            delete own_;
            own_ = nullptr; // what comes still later makes one that is never freed
        }
    };

    [[gnu::noinline]] static void make() {
        static thread_local const EndOfThread end;
        (void)end;
        own_ = new T;
    }

    [[gnu::tls_model("initial-exec")]] static inline constinit thread_local T *own_ = nullptr;
};

template <typename T> T &of_this_thread() { return ThreadData<T>::own(); }

} // namespace cd::logger
