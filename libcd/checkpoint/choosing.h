// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/opening.h"

#include <vector>

namespace cd::checkpoint {

// The points in time that count in any of the stores, the latest attempts first. May throw.
std::vector<Start> all_agreed(const std::vector<Findings> &findings);

// Leaves of them what CD_RESTART asks for, with a remark where that is not there because nothing
// is. May throw.
Status choose(Job &job, const Request &request, std::vector<Start> &points, Remarks &remarks);

} // namespace cd::checkpoint
