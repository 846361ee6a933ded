// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "ranges/entry.h"

#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace cd {

// Parts of the ranges of a CD that only their order tells from others. No two overlap.
class OrderedParts {
public:
    struct Part {
        uintptr_t end;
        uint64_t space; // of the other process, in which it began at old
        uint64_t old;
        uint64_t ordinal; // of the range that it is in, or all of
        uint64_t offset;  // there

        // What is that much behind its begin.
        Part from(uint64_t within) const {
            return {end, space, old + within, ordinal, offset + within};
        }
    };
    using Parts = std::map<uintptr_t, Part>; // by their begin
    using Position = Parts::const_iterator;
    using Node = Parts::node_type;

    bool empty() const { return parts_.empty(); }
    Position begin() const { return parts_.begin(); }
    Position end() const { return parts_.end(); }

    // The first that ends behind address.
    Position find(uintptr_t address) const {
        const auto behind = parts_.upper_bound(address);
        return behind != parts_.begin() && std::prev(behind)->second.end > address
                   ? std::prev(behind)
                   : behind;
    }

    // A part of memory that add() puts in. May throw std::bad_alloc.
    static Node make(uintptr_t begin, const Part &part) {
        Parts parts;
        parts.emplace(begin, part);
        return parts.extract(parts.begin());
    }

    void add(Node part) noexcept { parts_.insert(std::move(part)); }

    // No part lies on both sides of address from now on. May throw std::bad_alloc.
    void make_border(uintptr_t address) {
        const auto at = find(address);
        if (at != parts_.end() && at->first < address) {
            parts_.emplace(address, at->second.from(address - at->first));
            parts_[at->first].end = address;
        }
    }

    void clear() noexcept { parts_.clear(); }

    // All parts that have bytes of range.
    void erase(Range range) noexcept {
        for (auto at = find(range.begin); at != parts_.end() && at->first < range.end;) {
            at = parts_.erase(at);
        }
    }

private:
    Parts parts_;
};

} // namespace cd
