// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/kvtree.h"
#include "redset/set.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace cd::protection {

// One attempt to protect a point in time. A point in time may be protected more than once, by
// programs that went back and came to the same epoch again: attempts are numbered in the order of
// time, and what two programs that know nothing of each other number alike has different sessions.
struct Point {
    uint64_t number = 0;
    uint64_t epoch = 0;
    int level = 0; // its index: each level keeps a point in time of its own
    uint64_t session = 0;
    auto operator<=>(const Point &) const = default;
};

// The level of copies in the directory of flush=; others have smaller numbers.
constexpr int flush_level = 10000;

inline bool nothing_kept(const Point &) { return false; }

// All that ranks which see a directory have of a point in time is in one directory of this name.
std::string directory_name(const Point &point);
std::optional<Point> point_of(std::string_view directory_name);

// The names of a rank's files all begin with its number and a dot.
std::string image_name(int rank);
std::string stored_name(int rank); // the record, until all ranks have stored the point in time
std::string agreed_name(int rank); // the record from then on
std::optional<int> rank_of(std::string_view file_name);

// Sessions, and up to which number they have come.
using Sessions = std::map<uint64_t, uint64_t>;

// What does not count any more: the points in time of the programs that commits knew of, up to
// their numbers. Those of another job, which may have numbered its own alike, are none of them. And
// those programs of which the next commit has to know, be it that nobody sees anything of theirs
// then: a node that is away may have something, and come back.
struct Tombstone {
    uint64_t number = 0;
    Sessions forgotten;
    Sessions known;

    bool is_for(const Point &point) const {
        const auto found = forgotten.find(point.session);
        return found != forgotten.end() && point.number <= found->second;
    }
    void add(const Tombstone &other);
    void know(const Point &point);
    // All that is known does not count any more, nor what the session of that number has.
    void forget_all(uint64_t session, uint64_t number);
    bool says_all_of(const Tombstone &other) const;
    bool operator==(const Tombstone &) const = default;
};

// Of so many programs, the last ones, a tombstone tells.
constexpr size_t remembered_sessions = 32;

// "forgotten-NUMBER"
std::string tombstone_name(uint64_t number);
std::optional<uint64_t> tombstone_of(std::string_view file_name);
redset::KvTree tombstone_tree(const Tombstone &tombstone);
Status read_tombstone(const redset::KvTree &tree, const char *file, Tombstone &tombstone);

// The file with the directories in which there may be points in time besides this one.
constexpr char store_list_name[] = "stores";

// What a rank writes down of a point in time, besides the data: who protects it.
struct Record {
    Point point;
    int rank = 0;
    int participants = 0; // how many ranks have a root of that name
    redset::Set set;
    // Of the rank's files, by name: image and redundancy. Earlier versions wrote none down.
    std::map<std::string, uint64_t> sizes = {};
    bool operator==(const Record &) const = default;
};

redset::KvTree record_tree(const Record &record);
Status read_record(const redset::KvTree &tree, const char *file, Record &record);

} // namespace cd::protection
