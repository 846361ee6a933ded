// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "config/advance_limits.h"

#include <cstdint>

namespace cd {

// Whether it is time for a CD's next advance, from what its last ones cost. Times are those of the
// monotonic clock, in ns. Guarded by the CD's lock.
class AdvancePolicy {
public:
    // A CD that begins now.
    AdvancePolicy(const AdvanceLimits &limits, uint64_t now) : limits_(limits), since_(now) {}
    AdvancePolicy() = default;

    const AdvanceLimits &limits() const { return limits_; }

    // Without limits nothing is to be measured, and it is always time.
    bool measures() const { return limits_.given(); }

    void advanced(uint64_t begin, uint64_t end);
    void restored(uint64_t now) { since_ = now; }

    // Before the first advance nobody knows what one costs: it is time then.
    bool is_time(uint64_t now) const;

private:
    double wanted_interval_s() const;

    AdvanceLimits limits_;
    uint64_t since_ = 0; // what was computed since then is lost in a failure
    double cost_s_ = 0;  // of an advance
    bool cost_known_ = false;
};

} // namespace cd
