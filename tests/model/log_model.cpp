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

void Log::orphan(int depth) {
    if (replaying() && restored >= depth) {
        restored = nobody;
    }
}

void Log::orphan_nested(int depth) {
    for (auto &[key, stream] : nested) {
        if (key.first > depth) {
            stream->orphan(depth);
            stream->orphan_nested(depth);
        }
    }
}

bool Log::nested_orphaned(int depth) const {
    return std::any_of(nested.begin(), nested.end(), [&](const auto &item) {
        const auto &[key, stream] = item;
        return key.first > depth && (stream->orphaned() || stream->nested_orphaned(depth));
    });
}

std::map<const Log *, int> Log::replays_under_way(int depth) const {
    std::map<const Log *, int> under_way;
    if (replaying()) {
        under_way[this] = replays;
    }
    for (const auto &[key, stream] : nested) {
        if (key.first > depth) {
            under_way.merge(stream->replays_under_way(depth));
        }
    }
    return under_way;
}

LogPosition Log::position(int depth) const {
    LogPosition now;
    now.index = orphaned() ? entries.size() : cursor;
    for (const auto &[key, stream] : nested) {
        if (key.first > depth) {
            now.nested[key] = stream->position(depth);
        }
    }
    return now;
}

void Log::rewind(const LogPosition &position, int depth) {
    if (!orphaned() || position.index <= cursor) {
        const bool was_live = !replaying();
        restored = was_live ? depth : std::min(restored, depth);
        cursor = position.index;
        if (was_live && replaying()) {
            ++replays;
        }
    }
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
