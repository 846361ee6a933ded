// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/advance_policy.h"

#include <algorithm>
#include <cmath>

namespace cd {
namespace {

double seconds(uint64_t begin, uint64_t end) {
    return end > begin ? static_cast<double>(end - begin) * 1e-9 : 0;
}

} // namespace

// Averages the cost, so that it follows changes and a single slow advance does not decide.
void AdvancePolicy::advanced(uint64_t begin, uint64_t end) {
    const double cost = seconds(begin, end);
    cost_s_ = cost_known_ ? (cost_s_ + cost) / 2 : cost;
    cost_known_ = true;
    since_ = end;
}

bool AdvancePolicy::is_time(uint64_t now) const {
    return !cost_known_ || seconds(since_, now) >= wanted_interval_s();
}

double AdvancePolicy::wanted_interval_s() const {
    double interval = 0;
    if (const double mean = limits_.mean_time_between_failures_s; mean > 0) {
        // Young's and Daly's first order: the least expected loss. It holds for costs that are
        // small against the mean; an advance that costs as much is not worth while more often.
        interval = cost_s_ < mean / 2 ? std::sqrt(2 * cost_s_ * mean) - cost_s_ : mean;
    }
    if (const double share = limits_.largest_share; share > 0) {
        interval = std::max(interval, cost_s_ * (1 - share) / share);
    }
    return interval;
}

} // namespace cd
