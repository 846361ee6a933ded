// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "config/advance_limits.h"

#include <cstdint>

namespace cd {

// Decides when a CD's next advance is due, from the cost of its last ones. Times are ns of the
// monotonic clock. Guarded by the CD's lock.
class AdvancePolicy {
public:
    AdvancePolicy(const AdvanceLimits &limits, uint64_t now) : limits_(limits), since_(now) {}
    AdvancePolicy() = default;

    const AdvanceLimits &limits() const { return limits_; }

    // False without limits: then an advance is always due.
    bool measures() const { return limits_.given(); }

    void advanced(uint64_t begin, uint64_t end);
    void restored(uint64_t now) { since_ = now; }

    // True if an advance is due. Always before the first one, whose cost is unknown.
    bool is_time(uint64_t now) const;

private:
    double wanted_interval_s() const;

    AdvanceLimits limits_;
    uint64_t since_ = 0; // the last point in time or restore
    double cost_s_ = 0;  // of an advance
    bool cost_known_ = false;
};

} // namespace cd
