// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <atomic>
#include <cstdint>

namespace cd::logger {

// Returns true if a window or persistent collective operation that is made now gets memory of the
// logger, so that a logging CD can use it. That is so if a CD logs, or if the program is linked
// with libcd, since such objects are made early. CD_WINDOWS=separate and =direct override that.
bool separate_memory_wanted();

// Numbers what a thread records between two boundaries of its CDs, or after a restore. A
// re-execution sees all of an interval or nothing. The numbers are unique.
class Interval {
public:
    static uint64_t now() { return now_ != 0 ? now_ : begin(); }
    static uint64_t begin() { return now_ = ++last_; }

private:
    static inline std::atomic<uint64_t> last_ = 0;
    static inline constinit thread_local uint64_t now_ = 0;
};

} // namespace cd::logger
