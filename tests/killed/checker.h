// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "plan.h"

#include <string>

namespace killed {

// "" if the stores in directory are exactly what the plan has come to, else the first difference.
// Works on a copy of the directory.
std::string difference(const Plan &plan, const std::string &directory);

} // namespace killed
