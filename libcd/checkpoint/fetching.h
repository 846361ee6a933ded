// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/job.h"
#include "checkpoint/root_apart.h"

#include <vector>

namespace cd::checkpoint {

// Brings a root's files from nodes where none of its ranks is to the nodes of the ranks that they
// belong to, and removes them where they were once they are there: as if the ranks' own node had
// had them. Earlier stores are written down there; what comes from one that not all of these ranks
// can have comes to the first. What another job uses, or cannot be read, is left where it is. The
// job's ranks are those that have the root and those that see what is elsewhere; all get the same
// outcome, and after a failure nothing is lost. same: gets what is no other directory than that of
// a rank that has the root, as these know it then. Does not throw.
Status fetch(Job &job, const RootApart &root, bool sync, std::vector<Holding> &same);

} // namespace cd::checkpoint
