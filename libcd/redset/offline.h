// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/copies.h"
#include "redset/dividing.h"
#include "redset/member_places.h"
#include "redset/rebuild.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cd::redset {

// A set as scheme files tell of it, wherever they are.
struct FoundSet {
    Set set;
    std::vector<Copies> copies;                   // where each member's files are, or belong
    std::vector<std::optional<StoredFiles>> told; // each member's, where anything tells of them
    std::vector<Place> places;           // of these, what counts: the first ones, or what is better
    std::vector<PassedOver> passed_over; // by rebuild_found()
    std::vector<std::string> found;      // scheme files, of all copies
    bool none_is_left = false;           // of these: found is where one was
    std::string problem;                 // why it cannot be rebuilt, "" when it can be tried

    // Whether nothing tells which rank some member is: it has a negative one then.
    bool is_incomplete() const;
};

struct Search {
    std::vector<FoundSet> sets;
    std::vector<std::string> unusable; // scheme files that cannot be read, with the reasons
    // Paths of these, where they are no lost member's of a set that was found: they are all that
    // tells of whatever they are of. What is missing of a time others tell, so that its do not
    // count.
    std::vector<std::string> unusable_alone;
    // Paths of descriptors, and of what else has the name of one, but for those in directories that
    // name a time.
    std::vector<std::string> descriptors;
};

// Finds all scheme files below directories, of whichever sets and times, ours and upstream's. Names
// of stored files are taken from the directory above a scheme file that has them, at most from the
// one given; a lost member's belong where those of a member that was found are. Directories of one
// name that names a time are one: a member's scheme files in them are its copies, of which one is
// enough, and a member whose scheme files are lost has its files in whichever of them they are.
// Symbolic links are not followed. Fails when a directory cannot be read.
Status find_sets(std::span<const std::string> directories, const NamesATime &names_a_time,
                 Search &search, const OnlyFile &only_file = {});

// rebuild() with all members in this process. Settles which of a member's copies counts; others are
// left as they are. look_only: says what would be done, and does nothing; progress is that of
// looking.
Status rebuild_found(FoundSet &found, const Options &options, bool look_only, Survey &survey);

} // namespace cd::redset
