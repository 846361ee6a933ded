// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/knowledge.h"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace cd::redset {

// Sets of different times may tell of the same files, as where a program gave these to redset once
// more with another scheme: to bring back those of one destroys those of the other. Files are the
// same if their paths are, wherever links lead; and if their names and ranks are, wherever sets
// would write them, unless these times have nothing in common: no place of a file, and no directory
// with scheme files or above these, up to the first that has all files of a set, too.
class Rivals {
public:
    // What a sentence about two sets ends with, of which nobody knows which counts.
    static constexpr const char *remedy =
        ", so that nothing of this set was brought back. Move the scheme files of the set that "
        "does not count to where none of the directories that are given is above them, or give "
        "directories of one set alone";

    // All of it outlives this. May throw, as all of it.
    Rivals(const std::vector<const FoundSet *> &sets, Outlook &outlook);

    // Whether others tell otherwise of files of the set, or may have.
    bool has_rivals(const FoundSet &found) const;

    // Why nobody can say that what the set would write is not older than what others tell: a
    // sentence. "" where all that is known is the same, or files that are there are rather as this
    // set tells; what is not known matters where this set's are not there as it tells.
    std::string why_undecided(const FoundSet &found) const;

    // Of sets of other times, which files that are there fit rather, or which have written scheme
    // files over those of the set: a sentence; "" if there are none.
    std::string why_older(const FoundSet &found) const;

    // Which set has a scheme file in the place of a member's, as where ranks were divided anew.
    const FoundSet *in_place_of(const FoundSet &found, int member) const;

    // Whether sets that will be whole, of such times, have all of its files; of those alone that
    // are known by what is at the same path. Not where nothing tells what some member had.
    bool has_successors(const FoundSet &found, const std::set<const FoundSet *> &whole) const;

private:
    struct Comparison {
        bool fits_better = false; // some file that is there
        bool fits_worse = false;
        bool fits_worse_in_place = false; // where both sets would write it
        std::string file = {};            // that is told of otherwise, "" for none
        const FoundSet *other = nullptr;  // by which set
    };

    const Knowledge &own(const FoundSet &found) const { return times_[whose_.at(&found)]; }
    void relate_times();
    std::vector<const Knowledge *> times_of(const FoundSet &found) const;
    std::vector<const ToldFile *> same_files(const ToldFile &file, const Knowledge &time) const;
    Comparison compare(const FoundSet &found, const Knowledge &time) const;
    const FoundSet *written_over_by(const FoundSet &found, const Knowledge &time) const;
    bool is_older(const FoundSet &found, const Knowledge &time) const;
    bool is_older_in_place(const FoundSet &found, const Knowledge &time) const;
    std::string unknown_beside(const FoundSet &found, const Knowledge &time) const;

    Outlook &outlook_;
    std::map<std::string, const FoundSet *> scheme_files_; // whose they are, by real path
    std::map<const FoundSet *, std::vector<std::string>> own_scheme_files_; // of each member
    std::vector<Knowledge> times_;
    std::map<const FoundSet *, size_t> whose_;
    std::vector<std::set<size_t>> related_; // of each time those with anything in common, and it
};

} // namespace cd::redset
