// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "restart/gaps.h"

#include <algorithm>
#include <iterator>

namespace cd {

Range Gaps::first_in(Range range) const {
    Stretch at = stretch_at(range.begin);
    while (at.is_added && at.range.end < range.end) {
        at = stretch_at(at.range.end);
    }
    if (at.is_added) {
        return {range.end, range.end};
    }
    Range gap = at.range;
    while (!at.is_added && at.range.end < range.end) {
        gap.end = at.range.end;
        at = stretch_at(gap.end);
    }
    gap.end = std::min(range.end, at.is_added ? gap.end : at.range.end);
    return gap;
}

Gaps::Stretch Gaps::stretch_at(uintptr_t address) const {
    const auto counted = counted_.upper_bound(address);
    if (counted != counted_.begin() && std::prev(counted)->second.end > address) {
        return {{address, std::prev(counted)->second.end}, true};
    }
    uintptr_t end = counted == counted_.end() ? UINTPTR_MAX : counted->first;
    const auto ahead = domain_.bound_ahead.find(address);
    if (ahead != domain_.bound_ahead.end()) {
        if (ahead->first <= address) {
            return {{address, std::min(end, ahead->second.end)}, false};
        }
        end = std::min(end, ahead->first);
    }
    const auto at = domain_.entries.find(address);
    if (at == domain_.entries.end()) {
        return {{address, end}, false};
    }
    const Range held = at->second->range;
    return held.begin <= address ? Stretch{{address, std::min(end, held.end)}, true}
                                 : Stretch{{address, std::min(end, held.begin)}, false};
}

} // namespace cd
