// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "restart/waiting.h"

namespace cd {
namespace {

// To sort takes about as long as to look at all so often.
constexpr size_t worth_sorting = 256;

} // namespace

void Waiting::begin_range() {
    if (++ranges_ != worth_sorting) {
        return;
    }
    std::map<const Domain *, Sorted> sorted;
    for (const Domain *domain : family_) {
        Sorted &of_domain = sorted[domain];
        for (size_t i = 0; i < domain->unbound.size(); ++i) {
            sort(*domain, i, of_domain);
        }
    }
    sorted_ = std::move(sorted);
}

void Waiting::added(Domain &domain) {
    if (is_sorted()) {
        sort(domain, domain.unbound.size() - 1, sorted_[&domain]);
    }
}

void Waiting::sort(const Domain &domain, size_t index, Sorted &into) const {
    const Unbound &found = domain.unbound[index];
    if (is_by_order(found)) {
        into.by_ordinal.emplace(found.ordinal, index);
    }
    into.by_place.emplace(std::pair(found.space, found.old.begin), index);
}

} // namespace cd
