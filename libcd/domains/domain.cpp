// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/domain.h"

#include <algorithm>

namespace cd {

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
    for (const auto &[name, range] : domain.pending) {
        share(range.data);
    }
    return data;
}

std::vector<Domain *> subtree_of(Domain &top) {
    std::vector<Domain *> all = {&top};
    for (size_t i = 0; i < all.size(); ++i) {
        for (Domain *child : all[i]->children) { // insert() makes GCC 14 warn
            all.push_back(child);
        }
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
