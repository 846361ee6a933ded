// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <atomic>
#include <cstdint>

namespace cd::logger {

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
