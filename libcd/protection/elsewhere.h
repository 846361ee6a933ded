// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "protection/point.h"
#include "redset/exchange.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace cd::protection {

struct Findings;
struct Start;

// The latest point in time of a root that counts where a rank of the program sees it that does not
// have this root, and so takes no part in looking for it.
struct Elsewhere {
    std::string root;
    int rank = 0; // of the program
    std::string path;
    Point latest;
    bool operator==(const Elsewhere &) const = default;
};

// The ranks that have a root, by its name.
using RanksOfRoots = std::map<std::string, std::set<int>>;

// What this rank sees of roots that it does not have, in any of the directories: where one of the
// root's ranks has been, as other ranks may have, or have had, another root of this name. What
// cannot be read is not seen. May throw std::bad_alloc.
std::vector<Elsewhere> see_elsewhere(const RanksOfRoots &roots,
                                     const std::set<std::string> &directories, int rank);

// As ranks tell it to each other. May throw std::bad_alloc.
Status encode(const std::vector<Elsewhere> &seen, redset::Bytes &told);
Status decode(const redset::Bytes &told, std::vector<Elsewhere> &seen);

// CD_ERROR_RESTART_MISMATCH where something is elsewhere that is later than all points in time that
// the root's own ranks have found, and that restart, as CD_RESTART, does not leave out. May throw.
Status check_that_nothing_later_is(const std::vector<Elsewhere> &elsewhere,
                                   const std::string &restart,
                                   const std::vector<Findings> &findings,
                                   const std::vector<Start> &points);

// Of an error that files are lost: that they may be there.
Status with_those_elsewhere(Status status, const std::vector<Elsewhere> &elsewhere);

} // namespace cd::protection
