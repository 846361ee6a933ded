// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "config/storage_info.h"
#include "redset/set.h"

#include <span>
#include <string>
#include <vector>

namespace cd::checkpoint {

// How ranks protect each other.
struct SetOptions {
    Redundancy redundancy;
    int set_size = 8; // at least, if there are as many ranks
};

// The sets that the ranks of a job are divided into.
struct Division {
    std::vector<redset::Set> sets; // by number
    std::string fallback;          // why it differs from what was asked for; "": it does not

    // The set of a rank, which must be in one.
    const redset::Set &set_of(int rank) const;
};

int member_of(const redset::Set &set, int rank);

// Divides ranks, which ascend, as redset does: no set has two ranks of one failure group. groups[i]
// is that of ranks[i]. If all are one group, each rank is a set of its own. CD_ERROR_STORAGE_VALUE
// names the ranks of a set that is too small for the scheme.
Status divide(std::span<const int> ranks, std::span<const std::string> groups, int job_ranks,
              const SetOptions &options, Division &division);

using redset::list_ranks;
using redset::name_ranks;

} // namespace cd::checkpoint
