// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cerrno>

namespace cd::os {

// A call that begins anew each time that a signal interrupts it, as fallocate() may, never comes to
// its end where a timer is shorter than that.
constexpr int most_interruptions = 100;

// Makes the call, again as long as signals interrupt it, but not for ever: then that is the error.
template <typename Call> auto repeated(const Call &call) {
    auto result = call();
    for (int i = 1; i < most_interruptions && result < 0 && errno == EINTR; ++i) {
        result = call();
    }
    return result;
}

} // namespace cd::os
