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
template <typename Found, typename Missing>
void for_each_source(const Domain *from, Range range, const Found &found, const Missing &missing) {
    if (from == nullptr) {
        missing(range);
        return;
    }
    uintptr_t done = range.begin;
    const auto ask_above = [&](uintptr_t end) {
        if (done < end) {
            for_each_source(from->parent, {done, end}, found, missing);
        }
    };
    for (auto at = from->entries.find(range.begin);
         at != from->entries.end() && at->second->range.begin < range.end; ++at) {
        const Entry &entry = *at->second;
        if (entry.restoration == Restoration::copy) {
            const Range part = {std::max(range.begin, entry.range.begin),
                                std::min(range.end, entry.range.end)};
            ask_above(part.begin);
            found(entry, part);
            done = part.end;
        }
    }
    ask_above(range.end);
}

// Whether every byte of range, looked up from the parent on, ends in a COPY entry: the nearest
// holder decides, and a PARENT holder passes the question on.
Status check_ends_in_copy(const Domain &asking, const Domain *from, Range range);

} // namespace cd
