// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/exchange.h"
#include "redset/pipeline.h"
#include "redset/set.h"

#include <string>
#include <vector>

namespace cd::redset {

struct Options {
    bool sync = true; // forces files to the disk before they get their names
    Progress progress = {};
};

// Encodes the files of a set: each member passes the names of its files, and gets redset's files
// and our checksums for them. Collective: all members pass the same set and get the same status. On
// a failure old files stay, unless giving the new ones their names failed half-way. Files must not
// change meanwhile. Does not throw.
Status apply(Exchange &exchange, const Set &set, const Place &place,
             const std::vector<std::string> &names, const Options &options);

} // namespace cd::redset
