// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "os/system.h"
#include "redset/scheme.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cd::redset {

// One of the sets that the ranks of a job are divided into.
struct Set {
    Coding coding;
    int group = 0;          // this set's number
    int groups = 1;         // how many sets there are
    int job_ranks = 1;      // how many ranks the job has
    std::vector<int> ranks; // that of each member in the job
    bool operator==(const Set &) const = default;
};

// CD_ERROR_ARGUMENT if the set is invalid, or does not have so many members.
Status check_set(const Set &set, int members);

// "1, 2, 5", cut for messages.
std::string list_ranks(std::span<const int> ranks);
// "rank 1" or "ranks 1, 2, 5".
std::string name_ranks(std::span<const int> ranks);

// A file that a member stored in the set, with its name and attributes at that time.
struct StoredFile {
    std::string name;
    os::FileAttributes attributes;
};

using StoredFiles = std::vector<StoredFile>; // of one member, in its order

uint64_t logical_size(const StoredFiles &files);

// Tells if symbolic links among stored files are followed.
enum class Links { followed, refused };

// Where a member's files are. The names of redset's files begin with `prefix`. Names are relative
// to `folder`, unless they begin with a slash; "" is the working directory.
struct Place {
    std::string folder;
    std::string prefix;
    Links links = Links::followed;

    std::string path(const std::string &name) const;

    // The paths of a member's descriptor, scheme file and checksums.
    std::string descriptor(const Set &set, int member) const;
    std::string scheme_file(const Set &set, int member) const;
    std::string checksums(const Set &set, int member) const;

    bool operator==(const Place &) const = default;
};

} // namespace cd::redset
