// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/one_time.h"
#include "redset/outlook.h"
#include "redset/real_paths.h"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cd::redset {

// A file as a set tells of it.
struct ToldFile {
    const FoundSet *set;
    int rank;
    std::string name; // without detours
    std::string path; // where it is or would be written, without links
    os::FileAttributes attributes;
};

// What the sets of one time tell of a job's files, and of what nothing that is left tells.
class Knowledge {
public:
    // The sets outlive it. May throw, as all of it.
    Knowledge(const OneTime &sets, RealPaths &paths, Outlook &outlook);

    const OneTime &sets() const { return sets_; }
    std::span<const ToldFile> files_of(const FoundSet &found) const; // of one of them
    std::vector<const ToldFile *> at(const std::string &path) const;
    const ToldFile *named(int rank, const std::string &name) const;

    // Of a rank in a job of so many what is not known: "what rank 1 had in set ..."; "" where these
    // sets have no such rank, or tell of it.
    std::string what_is_unknown(int rank, int job_ranks) const;

    // What others that may be of the same job have in common with it, whichever files are there:
    // where its files belong; and directories, from those of its scheme files up to the first that
    // has the files of a set, too. Those above scheme files are likely ones alone where no file of
    // a set is there.
    std::set<std::string> paths() const;
    const std::set<std::string> &directories() const { return directories_; }
    const std::set<std::string> &likely_directories() const { return likely_directories_; }

private:
    struct Unknown {
        std::optional<int> rank; // none: any that is not known
        std::string what;
    };

    void add(const FoundSet &found, RealPaths &paths, Outlook &outlook);
    void add_directories(const FoundSet &found, bool any_there, RealPaths &paths);
    void add_missing_sets();

    OneTime sets_;
    std::vector<ToldFile> files_;                                 // set by set
    std::map<const FoundSet *, std::pair<size_t, size_t>> whose_; // first one, and how many
    std::map<std::string, std::vector<size_t>> by_path_;
    std::map<std::pair<int, std::string>, size_t> by_name_;
    std::set<int> known_; // ranks
    std::vector<Unknown> unknown_;
    std::set<std::string> directories_;
    std::set<std::string> likely_directories_;
};

// "set 1 of 2 (XOR, ...) of PATH": for messages. May throw.
std::string describe_set(const FoundSet &found);

} // namespace cd::redset
