// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"
#include "ranges/entry.h"

#include <algorithm>

namespace cd {

// Where PARENT bytes get their data.

// Calls found(holder, part) for each part of range that from or the nearest ancestor above it holds
// as COPY, and missing(part) for what nobody holds so.
//
// A range goes up the ancestors in one loop, however many they are; only what lies before a byte
// that was found is looked up on its own.
template <typename Found, typename Missing>
void for_each_source(const Domain *from, Range range, const Found &found, const Missing &missing) {
    uintptr_t done = range.begin;
    for (; from != nullptr && done < range.end; from = from->parent) {
        for (auto at = from->entries.find(done);
             at != from->entries.end() && at->second->range.begin < range.end; ++at) {
            const Entry &entry = *at->second;
            if (entry.restoration == Restoration::copy) {
                const Range part = {std::max(done, entry.range.begin),
                                    std::min(range.end, entry.range.end)};
                if (done < part.begin) {
                    for_each_source(from->parent, {done, part.begin}, found, missing);
                }
                found(entry, part);
                done = part.end;
            }
        }
    }
    if (done < range.end) {
        missing(Range{done, range.end});
    }
}

// Whether every byte of range, looked up from the parent on, ends in a COPY entry: the nearest
// holder decides, and a PARENT holder passes the question on.
Status check_ends_in_copy(const Domain &asking, const Domain *from, Range range);

} // namespace cd
