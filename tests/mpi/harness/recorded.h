// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/cd.h"

#include <map>
#include <string>
#include <vector>

namespace cd::scenarios {

// The functions in this rank's log of the root, and how many entries each has. Leaves the log read.
std::map<std::string, int> functions_in_log(cd_handle root);

// Returns the names that are in no rank's log. Collective.
std::vector<std::string> recorded_nowhere(const std::vector<std::string> &names,
                                          const std::map<std::string, int> &recorded_here);

} // namespace cd::scenarios
