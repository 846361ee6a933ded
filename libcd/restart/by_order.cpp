// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "restart/by_order.h"

#include <algorithm>

namespace cd {

Status ByOrder::bind(Range gap) {
    const auto [end, ordinal, added_anew] = gaps_.count(gap);
    std::optional<Unbound *> first;
    if (Status status = find(domain_, ordinal, gap, true, first); !status) {
        return status;
    }
    const auto ahead = domain_.bound_ahead.find(gap.begin);
    if (ahead != domain_.bound_ahead.end() && ahead->first < gap.end) {
        return reach(gap, ordinal, ahead, first);
    }
    for (Domain *above = domain_.parent; above != nullptr && !first; above = above->parent) {
        if (Status status = find(*above, ordinal, gap, false, first); !status) {
            return status;
        }
    }
    if (first) {
        bind_old(**first, gap);
    } else {
        supersede(ordinal);
        if (domain_.unbound.has_later(domain_.path, ordinal)) {
            arrivals_.note_that_it_goes_on();
        }
    }
    if (added_anew) {
        arrivals_.note_what_is_new(gap, ordinal);
    }
    return Status::ok();
}

// What holder has of the range that was the CD's so-and-so-many-th.
Status ByOrder::find(Domain &holder, uint64_t ordinal, Range gap, bool must_match,
                     std::optional<Unbound *> &found) {
    const Unbound *other = nullptr;
    bool several = false;
    for (const size_t number : holder.unbound.of_order(domain_.path, ordinal)) {
        Unbound &candidate = holder.unbound[number];
        if (candidate.leaving || (candidate.left && !arrivals_.comes_again(candidate))) {
            continue;
        }
        if (candidate.length != gap.length()) {
            other = &candidate;
        } else if (!found) {
            found = &candidate;
        } else {
            several |=
                (*found)->space != candidate.space ||
                (*found)->old.begin - (*found)->offset != candidate.old.begin - candidate.offset;
        }
    }
    if (several) {
        return fail(CD_ERROR_RESTART_MISMATCH,
                    "CD %s: this program adds %zu bytes at %p, and CD %s has several "
                    "ranges of that length in its store %s that it could be; give them "
                    "names with cd_name_region",
                    domain_.name(), gap.length(), gap.address(), holder.name(),
                    domain_.ledger->path());
    }
    if (!found && other != nullptr && must_match) {
        return fail(CD_ERROR_RESTART_MISMATCH,
                    "CD %s: this program adds %zu bytes at %p as range %llu of the CD, but in "
                    "the store %s that is one of %llu bytes; add the same ranges in the same "
                    "order as the program that wrote the store, give them names with "
                    "cd_name_region, or start with CD_RESTART=no",
                    domain_.name(), gap.length(), gap.address(),
                    static_cast<unsigned long long>(ordinal), domain_.ledger->path(),
                    static_cast<unsigned long long>(other->length));
    }
    return Status::ok();
}

// ahead: what is in gap already, or in its first bytes that are. first: what the CD has for it
// that is not bound yet, which can only be the rest.
Status ByOrder::reach(Range gap, uint64_t ordinal, OrderedParts::Position ahead,
                      const std::optional<Unbound *> &first) {
    // Modulo 2^64, since it may begin behind gap.
    const OrderedParts::Part begin = ahead->second.from(gap.begin - ahead->first);
    const auto is_of = [&](const Unbound &rest) {
        return (begin.space == rest.space && begin.old == rest.old.begin - rest.offset) ||
               (begin.ordinal == rest.ordinal && begin.offset == 0);
    };
    if (first && !is_of(**first)) {
        return fail(CD_ERROR_RESTART_MISMATCH,
                    "CD %s: this program adds %zu bytes at %p, of which the CD has other data "
                    "from its store %s than those of the range that is next in its order; add "
                    "the same ranges in the same order as the program that wrote the store, "
                    "give them names with cd_name_region, or start with CD_RESTART=no",
                    domain_.name(), gap.length(), gap.address(), domain_.ledger->path());
    }
    arrivals_.reach(gap, ordinal);
    if (first) {
        bind_old(**first, gap);
    }
    return Status::ok();
}

// What was this range of the CD in a process that was killed had another length. It came to the
// ancestor since its point in time, so that it was what this process does again now, and that
// has no such range.
void ByOrder::supersede(uint64_t ordinal) {
    for (Domain *above = domain_.parent; above != nullptr; above = above->parent) {
        for (const size_t number : above->unbound.of_order(domain_.path, ordinal)) {
            const Unbound &other = above->unbound[number];
            const bool was_here = !other.left || arrivals_.comes_again(other);
            if (!other.leaving && other.recent && was_here) {
                arrivals_.supersede(*above, number);
            }
        }
    }
}

// What part is of, and was where that was in the other process, begins at gap in this one.
void ByOrder::bind_old(const Unbound &part, Range gap) {
    const uint64_t space = part.space; // part itself may go elsewhere
    const uint64_t ordinal = part.ordinal;
    const uint64_t old = part.old.begin - part.offset;
    for (Domain *holder : arrivals_.waiting()) {
        for (const size_t number : holder->unbound.in(space, {old, old + gap.length()})) {
            const Unbound &found = holder->unbound[number];
            if (has_its_own_call(found, ordinal)) {
                continue;
            }
            const Range there = found.old;
            const uintptr_t first = std::max(there.begin, old);
            const uintptr_t last = std::min(there.end, old + gap.length());
            arrivals_.bind(*holder, number, {first, last}, gap.begin + (first - old));
        }
    }
}

// What this CD has deleted of a range, and added again: it is going to do so here.
bool ByOrder::has_its_own_call(const Unbound &found, uint64_t ordinal) const {
    return found.known == Unbound::Known::by_order && found.ordinal != ordinal &&
           *found.name == domain_.path;
}

} // namespace cd
