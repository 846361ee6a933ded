// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "protection/elsewhere.h"
#include "protection/job.h"

#include <set>
#include <string>
#include <vector>

namespace cd::protection {

// A root whose points in time lie where none of its ranks is, too.
struct RootApart {
    std::string root;
    std::set<int> ranks;              // that have it
    Asked asked;                      // by this rank, or else by one of these; as many by each
    std::vector<Elsewhere> elsewhere; // in directories of which each of these has its own
};

// Brings a root's files from nodes where none of its ranks is to the nodes of the ranks that they
// belong to, and removes them where they were once they are there: as if the ranks' own node had
// had them. What another job uses, or cannot be read, is left where it is. The job's ranks are
// those that have the root and those that see what is elsewhere; all get the same outcome, and
// after a failure nothing is lost. Does not throw.
Status fetch(Job &job, const RootApart &root, bool sync);

} // namespace cd::protection
