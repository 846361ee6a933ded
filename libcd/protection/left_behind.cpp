// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "protection/left_behind.h"

#include "file_store/directory.h"
#include "file_store/opening.h"

namespace cd::protection {

std::vector<int> ranks_elsewhere(const Findings &found, int self) {
    std::vector<int> ranks;
    const int own = found.speakers[static_cast<size_t>(self)];
    for (size_t position = 0; position < found.ranks.size(); ++position) {
        if (found.speakers[position] != own) {
            ranks.push_back(found.ranks[position]);
        }
    }
    return ranks;
}

void remove_left_behind(const std::string &directory, const std::string &root,
                        const std::vector<int> &ranks, bool sync) {
    Directory stores;
    if (ranks.empty() || !Directory::open(directory, stores)) {
        return;
    }
    bool any = false;
    for (const int rank : ranks) {
        const std::string store = store_name(rank, root);
        any = stores.remove_unused(store, aside_name(store)) || any;
    }
    if (any && sync) {
        os::system().sync_all(stores.descriptor());
    }
}

} // namespace cd::protection
