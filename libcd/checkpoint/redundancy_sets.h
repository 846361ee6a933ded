// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "config/storage_info.h"
#include "redset/set.h"

#include <span>
#include <string>
#include <vector>

namespace cd::checkpoint {

// How many ranks protect each other, and how.
struct Protecting {
    Redundancy redundancy;
    int set_size = 8; // at least, where there are as many
};

// The sets that all ranks of a job were divided into.
struct Division {
    std::vector<redset::Set> sets; // by number
    std::string fallback;          // why it is not what was asked for; "" when it is

    // That of a rank, which is in one of them.
    const redset::Set &set_of(int rank) const;
};

// How many failure groups may be lost, whichever these are.
int losses_covered(const Division &division);

// Whether sets that other groups were asked for survive the loss of so many of these: group i is
// that of ranks[i]. What is covered only in some of the cases does not count.
bool survives(const Division &division, std::span<const int> ranks,
              std::span<const std::string> groups, int losses);

int member_of(const redset::Set &set, int rank);

// Divides ranks, which ascend, so that no set has two of one failure group: group i is that of
// ranks[i]. docs/howto/redundancy.md has the rule, which is redset's. Where all are one group there is
// nothing to divide, and each is a set of its own. CD_ERROR_STORAGE_VALUE names the ranks of a set
// that is too small for the scheme.
Status divide(std::span<const int> ranks, std::span<const std::string> groups, int job_ranks,
              const Protecting &protecting, Division &division);

using redset::list_ranks;
using redset::name_ranks;

} // namespace cd::checkpoint
