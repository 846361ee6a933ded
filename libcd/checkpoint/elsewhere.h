// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/checkpoint.h"
#include "redset/exchange.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cd::checkpoint {

struct Findings;
struct Request;
struct Start;

// What a rank asks for, and others have to know of who look for what its root has.
struct Asked {
    std::vector<std::string> directories; // that of dir= is the first
    std::optional<size_t> flush_store;
    std::map<int, size_t> stores; // by the index of their level
    std::set<std::string> listed; // other directories in which there may be something
    bool afresh = false;          // CD_RESTART=no
    bool operator==(const Asked &) const = default;
};

// What is listed is read, if it can be. May throw std::bad_alloc.
Asked asked_in(const Request &request);

// The latest point in time of a root that counts where a rank of the program sees it.
struct Elsewhere {
    std::string root;
    int rank = 0; // of the program
    std::string directory;
    CheckpointId latest;
    std::string identity;     // what tells the directory from others
    std::string problem = {}; // why nobody can tell whether there is one; "": this is it
    std::string path() const;
    bool operator==(const Elsewhere &) const = default;
};

// The ranks that have a root, by its name.
using RanksOfRoots = std::map<std::string, std::set<int>>;

// What this rank sees of its own root where it asks for that, and of others' in any of the
// directories: where one of the root's ranks has been, as other ranks may have, or have had,
// another root of this name; and, of both, where these have written down that there may be
// something. asked: by rank. May throw std::bad_alloc.
std::vector<Elsewhere> see_points(const RanksOfRoots &roots, const std::vector<Asked> &asked,
                                  int rank, const std::string &node);

// Of all that was seen what lies where none of a root's ranks sees it, each directory once, and by
// who asks for it where several see it: ranks that do not have the root take no part in looking for
// it.
std::vector<Elsewhere> find_elsewhere(const RanksOfRoots &roots, const std::vector<Asked> &asked,
                                      const std::vector<Elsewhere> &seen);

// As ranks tell it to each other. May throw std::bad_alloc.
Status encode(const Asked &asked, redset::Bytes &told);
Status decode(const redset::Bytes &told, Asked &asked);
Status encode(const std::vector<Elsewhere> &seen, redset::Bytes &told);
Status decode(const redset::Bytes &told, std::vector<Elsewhere> &seen); // adds to it

// CD_ERROR_RESTART_MISMATCH where something is elsewhere that is later than all points in time that
// the root's own ranks have found, and that restart, as CD_RESTART, does not leave out. May throw.
Status check_that_nothing_later_is(const std::vector<Elsewhere> &elsewhere,
                                   const std::string &restart,
                                   const std::vector<Findings> &findings,
                                   const std::vector<Start> &points);

// Of an error that files are lost: that they may be there.
Status with_those_elsewhere(Status status, const std::vector<Elsewhere> &elsewhere);

} // namespace cd::checkpoint
