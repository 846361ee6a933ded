// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/survey.h"

#include <string>
#include <vector>

namespace cd::redset {

// The directories below which files may be written; without any, they may be everywhere.
using Bounds = std::vector<std::string>;

// Scheme files from nodes that nobody vouches for name what is lost. CD_ERROR_ARGUMENT, and the
// directory in the message, where something lost of a member would be written out of bounds,
// whatever links and ".." lead there.
Status check_bounds(const Set &set, int member, const Place &place, const Survey &survey,
                    const Bounds &bounds);

// Whether a directory is below one of them, wherever links lead; what cannot be told is not.
bool is_in_bounds(const std::string &directory, const Bounds &bounds);

} // namespace cd::redset
