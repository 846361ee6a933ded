// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/opening.h"

#include <optional>
#include <vector>

namespace cd::checkpoint {

// What there is in all stores, as all ranks know it then; no other job uses them from now on.
// asked_for: how many of the stores the request has. flush_store: people are warned where it is not
// one directory for all. findings: by store, with who speaks for its directory on each node; then
// with who tells of it. All ranks get the same outcome. Does not throw.
Status look(Job &job, uint64_t session, size_t asked_for, std::optional<size_t> flush_store,
            std::vector<OpenStore> &stores, std::vector<Findings> &findings);

} // namespace cd::checkpoint
