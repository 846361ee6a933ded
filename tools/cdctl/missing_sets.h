// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "left_alone.h"

#include <string>
#include <vector>

namespace cdctl {

// Sentences: of which sets nothing was found, where those that were found say that there are more
// of their time, or a descriptor says that there is one. Of attempts records tell that, and more.
// Of a time of which a set is superseded nothing is missed.
std::vector<std::string> missing_sets(const std::vector<cd::redset::FoundSet> &found,
                                      const LeftAlone &left_alone);

} // namespace cdctl
