// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cxxabi.h>

namespace cd {

// Marks its thread as inside a function of the application that the library called. Calls of the
// library from there are refused, since they could wait for a lock that the thread holds.
class CallbackGuard {
public:
    CallbackGuard() { inside_ = true; }
    CallbackGuard(const CallbackGuard &) = delete;
    CallbackGuard &operator=(const CallbackGuard &) = delete;
    ~CallbackGuard() { inside_ = false; }

    static bool inside() { return inside_; }

private:
    [[gnu::tls_model("initial-exec")]] static inline constinit thread_local bool inside_ = false;
};

// Runs body, which calls a function of the application. False if that throws. The unwinding that
// ends a thread passes through.
template <typename Body> bool without_exceptions(const Body &body) {
    try {
        body();
        return true;
    } catch (abi::__forced_unwind &) {
        throw;
    } catch (...) {
        return false;
    }
}

// Runs body as without_exceptions() does, and refuses its calls of the library.
template <typename Body> bool call_application(const Body &body) {
    const CallbackGuard scope;
    return without_exceptions(body);
}

} // namespace cd
