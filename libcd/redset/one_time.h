// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/offline.h"

#include <vector>

namespace cd::redset {

// Sets of one job and one time: of one division of its ranks, of which some may not be found.
using OneTime = std::vector<const FoundSet *>;

// Which sets are of one time, where no name of a directory tells: those that do not contradict,
// first of all those that have a directory in common. They contradict, too, if their scheme files
// have different prefixes; and if each of them has scheme files that are all at one path from where
// its files are, and neither of these paths is the end of the other. May throw.
std::vector<OneTime> divide_by_time(const std::vector<const FoundSet *> &sets);

} // namespace cd::redset
