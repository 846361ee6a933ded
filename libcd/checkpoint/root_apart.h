// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/elsewhere.h"

#include <set>
#include <string>
#include <vector>

namespace cd::checkpoint {

// A directory in which a rank that does not have a root sees some of its points in time.
struct Holding {
    int rank = 0;
    std::string directory;
    size_t store = 0;     // of those of the root, the one to which it comes
    bool is_named = true; // so that it is that store whatever is in it
    bool operator==(const Holding &) const = default;
};

// A root whose points in time lie where none of its ranks is, too. Its stores are those that its
// ranks ask for, and behind them the earlier ones.
struct RootApart {
    std::string root;
    std::set<int> ranks; // that have it
    Asked asked;         // by this rank, or else by the first that has it
    std::vector<Holding> holdings;
    std::vector<std::string> earlier = {}; // directories that only another configuration had

    bool is_earlier(size_t store) const { return store >= asked.directories.size(); }
};

// What of it can come to its ranks: what they call by its name, what others have as their dir=,
// which is not the same on all nodes, and what nobody calls anything now, which keeps its name.
// Copies of flush= are where all see them, or nobody's who does not.
RootApart root_apart(const std::string &root, const std::set<int> &ranks, int self,
                     const std::vector<Asked> &asked, const std::vector<Elsewhere> &elsewhere);

} // namespace cd::checkpoint
