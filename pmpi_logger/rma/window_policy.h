// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <atomic>
#include <cstdint>

namespace cd::logger {

// Whether a window or a persistent collective operation that is made now gets memory of ours, so
// that a CD that logs can use it. It does if a CD logs, or if the program is linked with libcd:
// they are made early. All others are MPI's own business, as without the logger.
// CD_WINDOWS=separate and =direct decide otherwise.
bool separate_memory_wanted();

// What a thread records between two boundaries of its CDs, or after a restore: a re-execution sees
// all of it, or nothing. No two intervals have the same number.
class Interval {
public:
    static uint64_t now() { return now_ != 0 ? now_ : begin(); }
    static uint64_t begin() { return now_ = ++last_; }

private:
    static inline std::atomic<uint64_t> last_ = 0;
    static inline constinit thread_local uint64_t now_ = 0;
};

} // namespace cd::logger
