// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "plan.h"

#include <string>

namespace killed {

constexpr int steps_of_a_life = 400;

// What a process does that is to be killed: attaches to the stores that the plan has left, and goes
// on with it. Writes a byte to progress for each step that is over. Returns the exit status.
int be_victim(Plan &plan, const std::string &storage, int progress);

} // namespace killed
