// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/offline.h"

#include <string>
#include <vector>

namespace cdctl {

// Sentences: of which sets nothing was found, where those that were found say that there are more.
// Of attempts records tell that, and more. Where there is a time with as many sets of as many
// ranks of which none is missing, nothing is said of others.
std::vector<std::string> missing_sets(const std::vector<cd::redset::FoundSet> &found);

} // namespace cdctl
