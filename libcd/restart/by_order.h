// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "restart/arrivals.h"
#include "restart/gaps.h"

#include <cstdint>
#include <optional>

namespace cd {

// Finds what an add call names by nothing but the order in which the CD adds its ranges.
class ByOrder {
public:
    ByOrder(Arrivals &arrivals, Gaps &gaps)
        : domain_(arrivals.domain()), arrivals_(arrivals), gaps_(gaps) {}

    // gap: bytes of the call that the CD's own calls have not added, which have no name. May throw
    // std::bad_alloc.
    Status bind(Range gap);

private:
    Status find(Domain &holder, uint64_t ordinal, Range gap, bool must_match,
                std::optional<Unbound *> &found);
    Status reach(Range gap, uint64_t ordinal, OrderedParts::Position ahead,
                 const std::optional<Unbound *> &first);
    void supersede(uint64_t ordinal);
    void bind_old(const Unbound &part, Range gap);
    bool has_its_own_call(const Unbound &found, uint64_t ordinal) const;

    Domain &domain_;
    Arrivals &arrivals_;
    Gaps &gaps_;
};

} // namespace cd
