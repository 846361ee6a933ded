// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/cd.h"

#include <set>
#include <string>
#include <vector>

namespace cd::scenarios {

// The functions in this rank's log of the root. Leaves the log read.
std::set<std::string> functions_in_log(cd_handle root);

// Those of the names that no rank's log has. All ranks take part.
std::vector<std::string> recorded_nowhere(const std::vector<std::string> &names,
                                          const std::set<std::string> &recorded_here);

} // namespace cd::scenarios
