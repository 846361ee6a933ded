// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/dividing.h"

#include <vector>

namespace cd::redset {

// Of one time each rank is in one set, and all sets are of one division. Takes those out of sets
// that contradict others of their time in that, where directories name it: what fewer checksums
// beside them vouch for, or of what fewer files tell. Their files tell nothing of any member then.
std::vector<UnusableFile> take_strays(std::vector<Members> &sets, const NamesATime &names_a_time);

} // namespace cd::redset
