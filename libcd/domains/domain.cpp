// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/domain.h"

#include <algorithm>

namespace cd {

std::vector<Domain *> subtree_of(Domain &top) {
    std::vector<Domain *> all = {&top};
    for (size_t i = 0; i < all.size(); ++i) {
        all.insert(all.end(), all[i]->children.begin(), all[i]->children.end());
    }
    std::ranges::sort(all, [](const Domain *a, const Domain *b) {
        return a->depth != b->depth ? a->depth < b->depth : a->creation < b->creation;
    });
    return all;
}

} // namespace cd
