// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace model {

struct Log;

// Which of several streams beside each other: depth and sibling index of the CDs that use it.
using SiblingKey = std::pair<int, int>;

// A moment in a stream and in the streams nested in it.
struct LogPosition {
    size_t index = 0;
    std::map<SiblingKey, LogPosition> nested;
};

// One chronological MPI log. Before cursor: already replayed or live. At the end: live.
struct Log {
    std::vector<std::string> entries;
    size_t cursor = 0;
    std::set<size_t> residents; // where CDs began that had it to themselves
    int replays = 0;            // begun so far
    int restored = 0; // the least depth of the CDs whose restores the replay is for, or nobody
    std::map<SiblingKey, std::unique_ptr<Log>> nested;

    bool replaying() const { return cursor < entries.size(); }

    bool replaying_for(int depth) const { return replaying() && restored <= depth; }

    // Left by CDs that were restored and have ended.
    static constexpr int nobody = 1000;
    bool orphaned() const { return replaying() && restored == nobody; }
    void orphan(int depth);
    bool is_within_another_cd() const { return replaying() && residents.count(cursor) == 0; }
    bool nested_orphaned(int depth) const;

    // The same for those that are nested in it and belong to CDs deeper than depth.
    void orphan_nested(int depth);

    bool nested_replaying(int depth) const;

    // The replays that are under way in it and in what is nested in it.
    std::map<const Log *, int> replays_under_way(int depth) const;

    // Of the CD at this depth: nested streams count if they are of deeper CDs.
    LogPosition position(int depth) const;
    void rewind(const LogPosition &position, int depth);
    void go_live(int depth);
};

} // namespace model
