// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/exchange.h"
#include "redset/pipeline.h"
#include "redset/set.h"

#include <functional>
#include <string>
#include <vector>

namespace cd::redset {

struct Survey;

struct Options {
    bool sync = true; // whether what is written reaches the disk before it counts
    Progress progress = {};
    // Called before a rebuild writes anything for this member; a failure refuses the rebuild.
    std::function<Status(int member, const Survey &survey)> check = {};
};

// Makes the redundancy of a set: each member gives the names of its files, and gets redset's files
// for them beside it, and ours. All members call it with the same set, and all get the same
// outcome. On a failure what was there before is as it was, but for the names that some members'
// new files may have taken when giving them fails half-way. Files may not change meanwhile; those
// of another member are never read. Does not throw.
Status apply(Exchange &exchange, const Set &set, const Place &place,
             const std::vector<std::string> &names, const Options &options);

} // namespace cd::redset
