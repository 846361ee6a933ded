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

// Checks that the lost files of a member would be written below one of the bounds, wherever links
// and ".." lead. CD_ERROR_ARGUMENT names the directory that is not.
Status check_bounds(const Set &set, int member, const Place &place, const Survey &survey,
                    const Bounds &bounds);

// True if a directory is below one of the bounds, wherever links lead.
bool is_in_bounds(const std::string &directory, const Bounds &bounds);

// A damaged copy of a member's files that was not used.
struct DamagedCopy {
    int member = 0;
    std::string folder;
    MemberState state;
};

struct OfflineResult {
    std::vector<Place> places; // the copy of each member that was used
    std::vector<DamagedCopy> damaged_copies;
    Survey survey;
};

// Rebuilds a set with all members in this process. Of the copies of a member the first whole one
// counts; the others stay as they are. `dry_run`: checks what would be done, and changes nothing;
// Options::progress tells how much was read then.
Status rebuild_offline(const FoundSet &found, const Options &options, const Bounds &bounds,
                       bool dry_run, OfflineResult &result);

} // namespace cd::redset
