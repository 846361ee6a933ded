// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/first_holder.h"

namespace cd {

// Where PARENT bytes get their data.

// A CD and then its ancestors, the nearest first.
struct Upwards {
    const Domain *at;
    const Domain *current() const { return at; }
    void step() { at = at->parent; }
};

// Calls found(holder, part) for each part of range that from or the nearest ancestor above it holds
// as COPY, and missing(part) for what nobody holds so.
template <typename Found, typename Missing>
void for_each_source(const Domain *from, Range range, const Found &found, const Missing &missing) {
    const auto holds_copy = [](const Domain & /*holder*/, const Entry &entry) {
        return entry.restoration == Restoration::copy;
    };
    const auto found_in = [&](const Domain & /*holder*/, const Entry &entry, Range part) {
        found(entry, part);
        return true;
    };
    const auto missing_here = [&](Range part) {
        missing(part);
        return true;
    };
    for_each_first_holder(Upwards{from}, range, holds_copy, found_in, missing_here);
}

// Whether every byte of range, looked up from the parent on, ends in a COPY entry: the nearest
// holder decides, and a PARENT holder passes the question on.
Status check_ends_in_copy(const Domain &asking, const Domain *from, Range range);

} // namespace cd
