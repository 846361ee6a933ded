// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/kvtree.h"
#include "redset/set.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace cd::checkpoint {

// One attempt to protect a point in time. A point in time may be protected more than once, by
// programs that went back and came to the same epoch again: attempts are numbered in the order of
// time, and what two programs that know nothing of each other number alike has different sessions.
struct CheckpointId {
    uint64_t number = 0;
    uint64_t epoch = 0;
    int level = 0; // its index: each level keeps a point in time of its own
    uint64_t session = 0;
    auto operator<=>(const CheckpointId &) const = default;
};

// The level of copies in the directory of flush=; others have smaller numbers.
constexpr int flush_level = 10000;

inline bool nothing_kept(const CheckpointId &) { return false; }

// All that ranks which see a directory have of a point in time is in one directory of this name.
std::string directory_name(const CheckpointId &point);
std::optional<CheckpointId> point_of(std::string_view directory_name);

// The names of a rank's files all begin with its number and a dot.
std::string image_name(int rank);
std::string stored_name(int rank); // the record, until all ranks have stored the point in time
std::string agreed_name(int rank); // the record from then on
std::optional<int> rank_of(std::string_view file_name);

// What does not count any more: the points in time up to a number, of the programs that a commit
// knew of. Those of another job, which may have numbered its own alike, are none of them.
struct CommitMarker {
    uint64_t number = 0;
    std::set<uint64_t> sessions;
    bool is_for(const CheckpointId &point) const {
        return point.number <= number && sessions.contains(point.session);
    }
    bool operator==(const CommitMarker &) const = default;
};

// "forgotten-NUMBER"
std::string tombstone_name(uint64_t number);
std::optional<uint64_t> tombstone_of(std::string_view file_name);
redset::KvTree tombstone_tree(const CommitMarker &tombstone);
Status read_tombstone(const redset::KvTree &tree, const char *file, CommitMarker &tombstone);

// What a rank writes down of a point in time, besides the data: who protects it.
struct Record {
    CheckpointId point;
    int rank = 0;
    int participants = 0; // how many ranks have a root of that name
    redset::Set set;
    // Of the rank's files, by name: image and redundancy. Earlier versions wrote none down.
    std::map<std::string, uint64_t> sizes = {};
    bool operator==(const Record &) const = default;
};

redset::KvTree record_tree(const Record &record);
Status read_record(const redset::KvTree &tree, const char *file, Record &record);

} // namespace cd::checkpoint
