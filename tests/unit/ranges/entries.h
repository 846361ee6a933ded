// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "ranges/range_index.h"

#include <map>
#include <tuple>
#include <vector>

namespace cd {

// The labels and data places that an index holds for one byte.
struct ByteState {
    Restoration restoration;
    addr_type access;
    addr_scope scope;
    uint64_t call;
    const std::byte *data;
    const std::byte *next_data;
    bool operator==(const ByteState &) const = default;
};

inline std::map<uintptr_t, ByteState> bytes_of(const RangeIndex &index) {
    std::map<uintptr_t, ByteState> bytes;
    for (const auto &[address, entry] : index) {
        for (uintptr_t at = entry->range.begin; at < entry->range.end; ++at) {
            const size_t offset = at - entry->range.begin;
            bytes[at] = {entry->restoration,
                         entry->access,
                         entry->scope,
                         entry->origin.call,
                         entry->data ? entry->data.at() + offset : nullptr,
                         entry->next_data ? entry->next_data.at() + offset : nullptr};
        }
    }
    return bytes;
}

inline std::vector<Range> ranges_of(const RangeIndex &index) {
    std::vector<Range> ranges;
    for (const auto &[address, entry] : index) {
        ranges.push_back(entry->range);
    }
    return ranges;
}

inline bool operator==(const Range &a, const Range &b) {
    return a.begin == b.begin && a.end == b.end;
}

struct Labels {
    Restoration restoration = Restoration::copy;
    addr_type access = CD_READ_ONLY;
    addr_scope scope = CD_GLOBAL;
    uint64_t call = 1;
};

inline Entry *new_entry(RangeIndex &index, Range range, Labels labels = {}) {
    Entry *entry = index.make_entry().release();
    entry->range = range;
    entry->restoration = labels.restoration;
    entry->access = labels.access;
    entry->scope = labels.scope;
    entry->origin.call = labels.call;
    return entry;
}

// Holds the bytes as an add call would, COPY ones with data.
inline Entry &put(RangeIndex &index, Range range, Labels labels = {}) {
    Entry &entry = *new_entry(index, range, labels);
    if (labels.restoration == Restoration::copy) {
        Block *block = Block::create(range.length(), false);
        entry.data = Piece(*block, 0);
        block->release();
    }
    index.insert(index.find(range.begin), &entry);
    index.set_access(entry, labels.access);
    return entry;
}

} // namespace cd
