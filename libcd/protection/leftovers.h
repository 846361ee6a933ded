// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "protection/opening.h"

#include <vector>

namespace cd::protection {

// Whether a point in time in any of the stores does not count any more. A tombstone in one of them
// is for all.
bool is_forgotten(const std::vector<Findings> &findings, const Point &point);

// On all nodes, before any file is moved: that may need the room. What cannot be removed stays.
// Does not throw, as the next.
Status remove_what_can_never_count(Job &job, const std::vector<OpenStore> &stores,
                                   const std::vector<Findings> &findings);

// Where nothing is protected: a program without redundancy may have left local stores, which are
// not what all start from. People are told once.
Status tell_of_local_stores(Job &job, const Request &request);

} // namespace cd::protection
