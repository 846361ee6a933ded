// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"

namespace cd {

// What the user says of how often advances are worth their cost. docs/reference/storage-info.md
// explains it.
struct AdvanceLimits {
    double mean_time_between_failures_s = 0; // 0: not given
    double largest_share = 0;                // of time that advances take; 0: not given

    bool given() const { return mean_time_between_failures_s > 0 || largest_share > 0; }
};

// From CD_MTBF and CD_OVERHEAD in the environment.
Status read_advance_limits(AdvanceLimits &limits);

} // namespace cd
