// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"

namespace cd {

// The user's limits for how often cd_need_advance asks for an advance.
// docs/reference/storage-info.md explains them.
struct AdvanceLimits {
    double mean_time_between_failures_s = 0; // 0: not given
    double largest_share = 0;                // of time that advances take; 0: not given

    bool given() const { return mean_time_between_failures_s > 0 || largest_share > 0; }
};

// Reads CD_MTBF and CD_OVERHEAD from the environment. An error leaves `limits` unchanged.
Status read_advance_limits(AdvanceLimits &limits);

} // namespace cd
