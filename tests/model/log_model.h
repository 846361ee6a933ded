// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace model {

struct Log;

// Identifies a stream beside others: depth and sibling index of the CDs that use it.
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
    int restored = 0; // the least depth of the CDs that the replay is for
    std::map<SiblingKey, std::unique_ptr<Log>> nested;

    bool replaying() const { return cursor < entries.size(); }

    bool replaying_for(int depth) const { return replaying() && restored <= depth; }

    // A CD at depth has ended: ends a replay for it or for deeper ones.
    void end_replay_of(int depth);
    // Does the same to nested logs of CDs that are deeper than `depth`.
    void end_nested_replays_of(int depth);

    bool nested_replaying(int depth) const;

    // Returns whether an ancestor of the CD at `depth` replays entries of that CD.
    bool replays_for_ancestor(int depth) const;

    // The position of the CD at this depth; nested streams count if they belong to deeper CDs.
    LogPosition position(int depth) const;
    void rewind(const LogPosition &position, int depth);
    void go_live(int depth);
};

} // namespace model
