// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

namespace cd {

// While one lives, its thread is inside a function of the application that the library called.
// Calls of the library from there are refused: they could wait for a lock that the thread holds.
class CallbackScope {
public:
    CallbackScope() { inside_ = true; }
    CallbackScope(const CallbackScope &) = delete;
    CallbackScope &operator=(const CallbackScope &) = delete;
    ~CallbackScope() { inside_ = false; }

    static bool inside() { return inside_; }

private:
    [[gnu::tls_model("initial-exec")]] static inline constinit thread_local bool inside_ = false;
};

} // namespace cd
