// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/fetching.h"

#include <vector>

namespace cd::checkpoint {

// A root whose points in time come to its ranks, and who has a part in it: the ranks that have it,
// and those that see some of them elsewhere.
struct PartInTurn {
    RootApart root;
    std::vector<int> ranks; // ascending
};

// Those that come at the same time: no rank has a part in two of them.
using Turn = std::vector<PartInTurn>;

// In as few turns as taking each root into the first that it fits into makes. All ranks find the
// same. May throw std::bad_alloc.
std::vector<Turn> take_turns(std::vector<RootApart> apart);

} // namespace cd::checkpoint
