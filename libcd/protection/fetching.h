// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "protection/elsewhere.h"
#include "protection/job.h"

#include <set>
#include <string>
#include <vector>

namespace cd::protection {

// A directory in which a rank that does not have a root sees some of its points in time.
struct Holding {
    int rank = 0;
    std::string directory;
    size_t store = 0;     // of those that the root's ranks ask for, the one to which it comes
    bool is_named = true; // by one of them, so that it is that store whatever is in it
    bool operator==(const Holding &) const = default;
};

// A root whose points in time lie where none of its ranks is, too.
struct RootApart {
    std::string root;
    std::set<int> ranks; // that have it
    Asked asked;         // by this rank, or else by the first that has it
    std::vector<Holding> holdings;
};

// What of it can come to its ranks: what they call by its name, and what others have as their dir=,
// which is not the same on all nodes. Copies of flush= are where all see them, or nobody's who does
// not; and of directories that are only listed the root's ranks may have some, too. asked: by rank.
RootApart root_apart(const std::string &root, const std::set<int> &ranks, int self,
                     const std::vector<Asked> &asked, const std::vector<Elsewhere> &elsewhere);

// Brings a root's files from nodes where none of its ranks is to the nodes of the ranks that they
// belong to, and removes them where they were once they are there: as if the ranks' own node had
// had them. What another job uses, or cannot be read, is left where it is. The job's ranks are
// those that have the root and those that see what is elsewhere; all get the same outcome, and
// after a failure nothing is lost. same: gets what is no other directory than that of a rank that
// has the root, as these know it then. Does not throw.
Status fetch(Job &job, const RootApart &root, bool sync, std::vector<Holding> &same);

} // namespace cd::protection
