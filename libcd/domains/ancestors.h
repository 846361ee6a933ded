// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"
#include "ranges/entry.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace cd {

inline constexpr size_t holders_remembered = 8;

// Looks up the bytes of range in several CDs. For each byte the first CD that holds it decides.
// `first`: a copyable position among the CDs, with current(), which is nullptr behind the last one,
// and step().
//
// Calls found(domain, entry, part) for each part that an entry holds for which holds(domain, entry)
// is true, and missing(part) for the other parts. Goes in order of address, while these return
// true.
//
// Uses a loop and no memory, since CDs are nested thousands deep and threads have small stacks. It
// asks the later CDs about each gap, then begins anew at the first CD that holds bytes behind the
// gap. For the first few CDs it remembers its position and how far they hold nothing, so it looks
// at each of their entries once.
template <typename Walk, typename Holds, typename Found, typename Missing>
void for_each_first_holder(Walk first, Range range, const Holds &holds, const Found &found,
                           const Missing &missing) {
    struct Place {
        RangeIndex::Position next;
        uintptr_t nothing_until;
    };
    std::array<Place, holders_remembered> places;
    size_t known = 0;       // of places
    size_t first_level = 0; // how often first was stepped
    for (uintptr_t done = range.begin; done < range.end;) {
        uintptr_t end = range.end; // of the gap in all CDs so far
        size_t level = first_level;
        for (Walk walk = first; walk.current() != nullptr && done < end; walk.step(), ++level) {
            if (level < known && done < places[level].nothing_until) {
                end = std::min(end, places[level].nothing_until);
            } else {
                auto &domain = *walk.current();
                const RangeIndex &entries = domain.entries;
                auto at = level < known ? entries.find_near(places[level].next, done)
                                        : entries.find(done);
                for (; at != entries.end() && at->second->range.begin < end; ++at) {
                    const Entry &entry = *at->second;
                    if (!holds(domain, entry)) {
                        continue;
                    }
                    if (done < entry.range.begin) {
                        end = entry.range.begin;
                        break;
                    }
                    const Range part = {done, std::min(end, entry.range.end)};
                    if (!found(domain, entry, part)) {
                        return;
                    }
                    done = part.end;
                }
                if (level < places.size()) {
                    places[level] = {at, end};
                    known = std::max(known, level + 1);
                }
            }
            if (level == first_level && end == range.end) {
                first.step(); // it holds no more
                ++first_level;
            }
        }
        if (done < end && !missing(Range{done, end})) {
            return;
        }
        done = end;
    }
}

// Walks from a CD to its ancestors, the nearest first.
template <typename AnyDomain> class Upwards {
public:
    explicit Upwards(AnyDomain *from) : at_(from) {}
    AnyDomain *current() const { return at_; }
    void step() { at_ = at_->parent; }

private:
    AnyDomain *at_;
};

// Finds the data for bytes of a PARENT entry. Calls found(entry, part) for each part of range that
// `from` or its nearest ancestor holds as COPY, and missing(part) for the other parts.
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
    for_each_first_holder(Upwards(from), range, holds_copy, found_in, missing_here);
}

// Fails unless each byte of range leads to a COPY entry in `from` or above. The nearest holder
// decides; a PARENT holder passes the question on. `asking` is the CD that is named in errors.
Status check_ends_in_copy(const Domain &asking, const Domain *from, Range range);

} // namespace cd
