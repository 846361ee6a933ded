// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

namespace cd::logger {

// Marks this thread as inside an MPI call of the program: what MPI calls then is part of that call
// and is not recorded.
class ReentryGuard {
public:
    ReentryGuard() { ++depth_; }
    ReentryGuard(const ReentryGuard &) = delete;
    ReentryGuard &operator=(const ReentryGuard &) = delete;
    ~ReentryGuard() { --depth_; }

    static bool mpi() { return depth_ > 0; }

private:
    [[gnu::tls_model("initial-exec")]] static inline constinit thread_local int depth_ = 0;
};

} // namespace cd::logger
