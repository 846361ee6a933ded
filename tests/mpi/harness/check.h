// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "harness/scenario.h"

namespace cd::scenarios {

// Runs the scenario without any CD, then in CDs that log, of which ranks restore in turn and all
// at once, at the end, half way through the log and on the way, the root and a child. Each time all
// executions have to bring the same, the log has to be used up, and MPI has to be as alive as ever.
// file: a path for the scenario. turn: which rank fails where not all have their turn. Failures are
// printed; returns how many there were on this rank.
int check(const Scenario &scenario, const std::string &file, int turn);

} // namespace cd::scenarios
