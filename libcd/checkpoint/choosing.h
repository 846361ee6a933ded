// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/opening.h"

#include <vector>

namespace cd::checkpoint {

// The points in time that count in any of the stores, the latest attempts first. May throw.
std::vector<Start> all_agreed(const std::vector<Findings> &findings);

// CD_ERROR_RESTART_MISMATCH where another node has a newer checkpoint of the root than all of
// `points`, and CD_RESTART does not say what to start from. May throw.
Status check_nothing_newer_elsewhere(const std::vector<Elsewhere> &elsewhere,
                                     const Request &request, const std::vector<Findings> &findings,
                                     const std::vector<Start> &points);

// Leaves of them what CD_RESTART asks for, with a remark where that is not there because nothing
// is. May throw.
Status choose(Job &job, const Request &request, std::vector<Start> &points, Remarks &remarks);

} // namespace cd::checkpoint
