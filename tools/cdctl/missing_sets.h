// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/offline.h"

#include <string>
#include <vector>

namespace cdctl {

// Sentences: of which sets nothing was found, where those that were found say that there are more.
// Of attempts records tell that, and more. Names of other directories tell no time: where one that
// is missing is there of another time, nothing is said.
std::vector<std::string> missing_sets(const std::vector<cd::redset::FoundSet> &found);

} // namespace cdctl
