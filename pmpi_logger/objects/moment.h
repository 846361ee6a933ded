// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <atomic>
#include <cstdint>

namespace cd::logger {

// Each is greater than all that any thread was given before. A list that other threads add to is
// judged by what was so at some time (Reach): what was added later may be in a log that began
// later.
using Moment = uint64_t;

inline Moment next_moment() {
    static constinit std::atomic<Moment> last = 0;
    return ++last;
}

} // namespace cd::logger
