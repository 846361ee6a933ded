// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/domain.h"

#include <algorithm>

namespace cd {

uint64_t interval_of(const Domain &domain) {
    constexpr uint64_t step = 0x9e3779b97f4a7c15; // so that few intervals have the same number
    uint64_t interval = 0;
    for (const Domain *above = domain.parent; above != nullptr; above = above->parent) {
        interval = (interval ^ above->epoch) * step;
    }
    return interval;
}

std::vector<Piece> data_of(const Domain &domain) {
    std::vector<Piece> data;
    const auto share = [&](const Piece &piece) {
        if (piece) {
            data.push_back(piece.share());
        }
    };
    for (const auto &[address, entry] : domain.entries) {
        share(entry->data);
    }
    for (const Unbound &found : domain.unbound) {
        share(found.data);
    }
    return data;
}

std::vector<Domain *> subtree_of(Domain &top) {
    std::vector<Domain *> all = {&top};
    for (size_t i = 0; i < all.size(); ++i) {
        all.insert(all.end(), all[i]->children.begin(), all[i]->children.end());
    }
    const auto before = [](const Domain *a, const Domain *b) {
        return a->depth != b->depth ? a->depth < b->depth : a->creation < b->creation;
    };
    if (!std::ranges::is_sorted(all, before)) { // as they are where only one has children
        std::ranges::sort(all, before);
    }
    return all;
}

} // namespace cd
