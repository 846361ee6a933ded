// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/saved_status.h"
#include "checkpoint/elsewhere.h"
#include "mpi/mpi_exchange.h"

#include <string>
#include <vector>

namespace cd::mpi {

// What a rank says of its root before it meets those that share it.
struct OwnRoot {
    std::string name;
    checkpoint::Asked asked; // nothing where it will not get one
    bool sync = true;
};

// All ranks of all call it, before each meets those that share its root: where they have roots of
// several names, what lies on nodes where none of a root's ranks is comes to these. live: roots
// that there are, of which nothing is touched. left: of this rank's root, what could not come.
// own_outcome: why nothing more of it could, on all of its ranks and no others. For the rest all
// get the same outcome. Does not throw.
Status bring_together(MpiExchange &all, const checkpoint::RanksOfRoots &roots,
                      const std::set<std::string> &live, const OwnRoot &own,
                      std::vector<checkpoint::Elsewhere> &left, SavedStatus &own_outcome);

} // namespace cd::mpi
