// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "protection/findings.h"

#include <string>
#include <vector>

namespace cd::protection {

// Those whose local stores are not where this rank's is.
std::vector<int> ranks_elsewhere(const Findings &found, int self);

// When the root was committed: the local stores of these ranks, which left them here as they were
// moved. Only those that nobody uses; what cannot be removed stays. May throw std::bad_alloc.
void remove_left_behind(const std::string &directory, const std::string &root,
                        const std::vector<int> &ranks, bool sync);

} // namespace cd::protection
