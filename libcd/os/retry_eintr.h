// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cerrno>

namespace cd::os {

// Bounds the repetition: a call that starts over each time, as fallocate() may, would never end
// under a fast timer.
constexpr int most_interruptions = 100;

// Makes the call and repeats it while signals interrupt it, at most most_interruptions times.
template <typename Call> auto repeated(const Call &call) {
    auto result = call();
    for (int i = 1; i < most_interruptions && result < 0 && errno == EINTR; ++i) {
        result = call();
    }
    return result;
}

} // namespace cd::os
