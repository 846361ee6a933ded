// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cd {

// Finds what a family has unbound for the ranges of one add call. It looks at all of that for each
// of the first ranges; a call of more is worth sorting it.
class Waiting {
public:
    // path: of the CD that the call is for.
    Waiting(const std::vector<Domain *> &family, const std::string &path)
        : family_(family), path_(path) {}

    // Before the lookups for each range. May throw std::bad_alloc.
    void begin_range();

    // What of domain has this place in the order of the CD's ranges. visit gets the Unbound.
    template <typename Visit> void each_of_order(Domain &domain, uint64_t ordinal, Visit visit) {
        const auto look_at = [&](Unbound &found) {
            if (is_by_order(found) && found.ordinal == ordinal) {
                visit(found);
            }
        };
        if (!is_sorted()) {
            for (Unbound &found : domain.unbound) {
                look_at(found);
            }
            return;
        }
        const auto [first, last] = sorted_[&domain].by_ordinal.equal_range(ordinal);
        for (auto at = first; at != last; ++at) {
            look_at(domain.unbound[at->second]);
        }
    }

    // What of domain was in these bytes of the process that is known as space. visit gets the index
    // in domain.unbound, and may cut that off which is not in them.
    template <typename Visit>
    void each_in(Domain &domain, uint64_t space, Range bytes, Visit visit) {
        const auto look_at = [&](size_t index) {
            const Unbound &found = domain.unbound[index];
            if (found.space == space && found.old.begin < bytes.end &&
                bytes.begin < found.old.end) {
                visit(index);
            }
        };
        if (!is_sorted()) {
            for (size_t i = 0; i < domain.unbound.size(); ++i) {
                look_at(i);
            }
            return;
        }
        const Places &places = sorted_[&domain].by_place;
        auto at = places.upper_bound({space, bytes.begin});
        if (at != places.begin()) {
            --at; // may end behind their begin
        }
        for (; at != places.end() && at->first < std::pair(space, bytes.end); ++at) {
            look_at(at->second);
        }
    }

    // Once the last of domain.unbound was put there. May throw std::bad_alloc.
    void added(Domain &domain);

private:
    using Places = std::multimap<std::pair<uint64_t, uint64_t>, size_t>; // space and begin there
    struct Sorted {
        std::multimap<uint64_t, size_t> by_ordinal;
        Places by_place;
    };

    bool is_sorted() const { return !sorted_.empty(); }
    bool is_by_order(const Unbound &found) const {
        return found.known == Unbound::Known::by_order && *found.name == path_;
    }
    void sort(const Domain &domain, size_t index, Sorted &into) const;

    const std::vector<Domain *> &family_;
    const std::string &path_;
    size_t ranges_ = 0;
    std::map<const Domain *, Sorted> sorted_; // empty: not yet
};

} // namespace cd
