// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "os/system.h"
#include "redset/scheme.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace cd::redset {

// A set among all that the ranks of a job were divided into, as every member knows it.
struct Set {
    Shape shape;
    int group = 0;          // this set's number
    int groups = 1;         // how many sets there are
    int job_ranks = 1;      // how many ranks the job has
    std::vector<int> ranks; // that of each member in the job
    bool operator==(const Set &) const = default;
};

// CD_ERROR_ARGUMENT for a set that cannot be, or is not that of as many members as meet.
Status check_set(const Set &set, int members);

// "1, 2, 5": for messages, and not longer than these may be.
std::string list_ranks(std::span<const int> ranks);
// The same as "rank 1" or "ranks 1, 2, 5".
std::string name_ranks(std::span<const int> ranks);

// A file that a member entrusted to the set, as it was then. The name is what the member called it.
struct StoredFile {
    std::string name;
    os::FileAttributes attributes;
};

using StoredFiles = std::vector<StoredFile>; // of one member, in its order

uint64_t logical_size(const StoredFiles &files);

// Whether the name of a stored file may lead elsewhere.
enum class Links { followed, refused };

// Where a member's files are. The prefix begins the names of what redset writes; it and the names
// of stored files are taken from folder, unless they begin with a slash. "" is where the process
// is.
struct Place {
    std::string folder;
    std::string prefix;
    Links links = Links::followed;
    std::map<std::string, std::string> stand_ins = {}; // paths of files that are looked at instead
    // What the member's only file is called, where that is known also if no header tells of it.
    std::string only_file = {};

    std::string path(const std::string &name) const;

    // Of member's files in a set: the set's descriptors, headers with payload, and our checksums.
    std::string descriptor(const Set &set, int member) const;
    std::string scheme_file(const Set &set, int member) const;
    std::string checksums(const Set &set, int member) const;

    bool operator==(const Place &) const = default;
};

} // namespace cd::redset
