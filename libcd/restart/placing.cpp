// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "restart/placing.h"

namespace cd {

bool is_free(const Domain &domain, uintptr_t address, size_t length) {
    const auto at = domain.entries.find(address);
    return at == domain.entries.end() || at->second->range.begin >= address + length;
}

Entry &place_arriving(Domain &domain, const Unbound &found, uintptr_t address) {
    domain.restore_may_fail = true;
    auto entry = domain.entries.make_entry();
    entry->range = {address, address + found.old.length()};
    entry->access = found.access;
    entry->scope = found.scope;
    entry->restoration = found.restoration;
    entry->data = found.data.share();
    domain.entries.insert_arriving(domain.entries.find(address), entry.get());
    return *entry.release();
}

} // namespace cd
