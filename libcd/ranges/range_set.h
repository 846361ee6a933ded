// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "ranges/entry.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace cd {

// A set of bytes of memory, added as ranges. Costs O(log n) for n stretches with gaps between them.
class RangeSet {
public:
    // May throw std::bad_alloc; then nothing has changed.
    void add(Range range) {
        auto at = stretches_.upper_bound(range.begin);
        if (at == stretches_.begin() || std::prev(at)->second < range.begin) {
            at = stretches_.emplace_hint(at, range.begin, range.end);
        } else {
            --at;
            at->second = std::max(at->second, range.end);
        }
        for (auto next = std::next(at); next != stretches_.end() && next->first <= at->second;
             next = stretches_.erase(next)) {
            at->second = std::max(at->second, next->second);
        }
    }

    // Calls visit for each stretch of range that is not in here, in order of address.
    template <typename Visit> void for_each_gap(Range range, const Visit &visit) const {
        auto at = stretches_.upper_bound(range.begin);
        uintptr_t done = range.begin;
        if (at != stretches_.begin()) {
            done = std::max(done, std::prev(at)->second);
        }
        for (; done < range.end; done = (at++)->second) {
            const bool is_last = at == stretches_.end() || at->first >= range.end;
            visit(Range{done, is_last ? range.end : at->first});
            if (is_last) {
                break;
            }
        }
    }

private:
    std::map<uintptr_t, uintptr_t> stretches_; // by begin, with the end
};

} // namespace cd
