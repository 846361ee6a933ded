// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

namespace cd::logger {

// An object of type T for each thread, made at its first use. Only a pointer lies in static
// thread-local memory: the hot path needs no call, and a library loaded late gets little of it.
template <typename T> class ThreadData {
public:
    static T &own() {
        if (own_ == nullptr) [[unlikely]] {
            make();
        }
        return *own_;
    }

    // Returns it if it was made, else nullptr.
    static T *if_made() { return own_; }

private:
    struct EndOfThread {
        ~EndOfThread() {
            delete own_;
            own_ = nullptr; // later uses make one that is never freed
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
