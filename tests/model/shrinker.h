// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "step.h"

#include <string>
#include <vector>

namespace model {

// Does the program in a process of its own, so that a crash or a hang is a failure like any other.
// "" or what went wrong.
std::string failure_of(const std::vector<Step> &program);

// A shorter program that fails in the same way, found by leaving out steps and list elements until
// nothing more can go or the time is up.
std::vector<Step> shrink(std::vector<Step> program, int seconds);

} // namespace model
