// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/rebuild.h"
#include "redset/scan.h"

#include <string>
#include <vector>

namespace cd::redset {

// The directories below which files may be written; without any they may be written everywhere.
using Bounds = std::vector<std::string>;

// True if a directory is below one of the bounds, wherever links and ".." lead.
bool is_in_bounds(const std::string &directory, const Bounds &bounds);

struct OfflineResult {
    std::vector<Place> places; // the copy of each member that was used
    Survey survey;
};

// Rebuilds a set with all members in this process. Of the copies of a member the first whole one
// counts; the others stay as they are. CD_ERROR_ARGUMENT names the directory of a lost file that is
// below none of the bounds. `dry_run`: checks what would be done, and changes nothing.
Status rebuild_offline(const FoundSet &found, const Options &options, const Bounds &bounds,
                       bool dry_run, OfflineResult &result);

} // namespace cd::redset
