// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "protection/opening.h"

#include <vector>

namespace cd::protection {

// What there is in all stores, as all ranks know it then; no other job uses them from now on.
// asked_for: how many of the stores the request has. findings: by store, with who speaks for its
// directory on each node; then with who tells of it. All ranks get the same outcome. Does not
// throw.
Status look(Job &job, uint64_t session, size_t asked_for, std::vector<OpenStore> &stores,
            std::vector<Findings> &findings);

} // namespace cd::protection
