// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "config/storage_info.h"
#include "redset/header.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cd::redset {

// "PREFIX RANK .SCHEME.grp_G_of_GROUPS.mem_M_of_N.redset". The header tells where the prefix ends.
struct SchemeName {
    std::string_view prefix_and_rank;
    Scheme scheme = Scheme::none;
    int group = 0; // counted from 0, as members are
    int groups = 0;
    int member = 0;
    int members = 0;
};

// Parses the name of a scheme file; nothing for other files.
std::optional<SchemeName> scheme_name_of(std::string_view name);

// True for the name of a directory that holds one checkpoint. Directories of such a name, on
// whichever nodes, hold the same checkpoint.
using NamesCheckpoint = std::function<bool(std::string_view name)>;

using Copies = std::vector<Place>;

// A set that scheme files describe.
struct FoundSet {
    Set set;                               // a member of unknown rank has a negative one
    std::vector<Copies> copies;            // where each member's files are, or belong
    std::vector<std::string> scheme_files; // their paths, of all copies
    std::string problem;  // why the set cannot be rebuilt, "" if it may be possible
    std::string conflict; // with another set, "" without one
};

struct Search {
    std::vector<FoundSet> sets;
    std::vector<std::string> unusable; // a sentence for each scheme file that cannot be read
};

// Finds the sets of all scheme files below directories. A set lies in one directory, with its files
// below the nearest one above that has any of them, else below the one given. In directories that
// name a checkpoint each member may have several copies. Symbolic links are not followed. Two sets
// that describe the same file, or contradict each other in one checkpoint, are in conflict. Fails
// if a directory cannot be read.
Status find_sets(std::span<const std::string> directories, const NamesCheckpoint &names_checkpoint,
                 Search &search);

} // namespace cd::redset
