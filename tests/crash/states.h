// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "dice.h"
#include "disk.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace crash {

// How many of the states that a crash may leave are looked at. What was not forced is divided three
// times: into whole changes, blocks of 4 KiB and sectors. Of each division:
struct Effort {
    size_t all_up_to = 0; // all subsets, if there are no more parts than this
    size_t single = 0;    // else so many with one part missing, one part only, and a prefix
    size_t random = 0;    // and so many random ones
};

using Parts = std::vector<Disk::Part>;

// Calls visit with the parts that were written of what is not forced, each set once, until it
// returns false. newest: sets without a change from this one on are left out, since they were
// looked at before it was made; 0: none is. Returns whether these are all that there are.
bool for_each_crash(const Disk &disk, size_t newest, const Effort &effort, Dice &dice,
                    const std::function<bool(const Parts &)> &visit);

// Visits the states that a kill leaves: all changes, and the first bytes of the newest one.
void for_each_kill(const Disk &disk, size_t newest,
                   const std::function<bool(const Parts &)> &visit);

std::string describe(const Disk &disk, const Parts &parts);

} // namespace crash
