// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"

#include <cstdint>
#include <utility>

namespace cd {

// What of an add call a CD's own calls have not added, of which some may have been bound ahead. In
// the order of the list, as the entries were written down when they were added first.
class Gaps {
public:
    explicit Gaps(Domain &domain) : domain_(domain), next_(domain.ledger->ordinal(domain.number)) {}

    // The first bytes of range; empty: there are none.
    Range first_in(Range range) const;

    // That only its order tells the gap from others. From now on it is added. May throw
    // std::bad_alloc.
    OrderedRange count(Range gap) {
        const bool before_others =
            domain_.restarted && domain_.unbound.has_later(domain_.path, next_);
        return counted_[gap.begin] = {gap.end, next_++, before_others};
    }

    OrderedRanges take_counted() { return std::move(counted_); }

private:
    struct Stretch {
        Range range;
        bool is_added;
    };

    // What is alike from address on, or a part of that.
    Stretch stretch_at(uintptr_t address) const;

    Domain &domain_;
    uint64_t next_;
    OrderedRanges counted_;
};

} // namespace cd
