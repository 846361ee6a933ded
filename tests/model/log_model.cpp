// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "log_model.h"

#include <algorithm>

namespace model {

bool Log::nested_replaying(int depth) const {
    return std::any_of(nested.begin(), nested.end(), [&](const auto &item) {
        const auto &[key, stream] = item;
        return key.first > depth && (stream->replaying() || stream->nested_replaying(depth));
    });
}

void Log::end_replay_of(int depth) {
    if (replaying() && restored >= depth) {
        cursor = entries.size();
    }
}

void Log::end_nested_replays_of(int depth) {
    for (auto &[key, stream] : nested) {
        if (key.first > depth) {
            stream->end_replay_of(depth);
            stream->end_nested_replays_of(depth);
        }
    }
}

bool Log::replays_for_ancestor(int depth) const {
    return replaying_for(depth - 1) ||
           std::any_of(nested.begin(), nested.end(), [&](const auto &item) {
               const auto &[key, stream] = item;
               return key.first > depth && stream->replays_for_ancestor(depth);
           });
}

LogPosition Log::position(int depth) const {
    LogPosition now;
    now.index = cursor;
    for (const auto &[key, stream] : nested) {
        if (key.first > depth) {
            now.nested[key] = stream->position(depth);
        }
    }
    return now;
}

void Log::rewind(const LogPosition &position, int depth) {
    restored = replaying() ? std::min(restored, depth) : depth;
    cursor = position.index;
    for (auto &[key, stream] : nested) {
        if (key.first <= depth) {
            continue;
        }
        const auto found = position.nested.find(key);
        // A stream that did not exist yet was empty.
        stream->rewind(found == position.nested.end() ? LogPosition{} : found->second, depth);
    }
}

void Log::go_live(int depth) {
    cursor = entries.size();
    for (auto &[key, stream] : nested) {
        if (key.first > depth) {
            stream->go_live(depth);
        }
    }
}

} // namespace model
