// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/query.h"

namespace cd {

void query(const Domain &domain, cd_info &info) {
    info = {};
    info.depth = domain.depth;
    info.sibling = domain.sibling;
    info.children = static_cast<int>(domain.children.size());
    info.logging = domain.log.enabled() ? 1 : 0;
    const LogView::Extent log = domain.log.extent();
    info.replaying = log.remaining > 0 ? 1 : 0;
    info.restarted = domain.restarted ? 1 : 0;
    for (const auto &[name, range] : domain.pending) {
        info.unbound += range.old.length();
    }
    info.epoch = domain.epoch;
    info.files = domain.files.size();
    info.log_length = log.entries;
    info.log_bytes = log.bytes;
    info.log_in_files = log.in_files;
    info.log_remaining = log.remaining;
    const Entry *previous = nullptr;
    for (const auto &[address, entry] : domain.entries) {
        const bool continues = previous != nullptr && previous->range.end == entry->range.begin &&
                               previous->alike(*entry);
        info.entries += continues ? 0 : entry->origin.elements;
        info.bytes += entry->range.length();
        info.read_write += entry->read_write() ? entry->range.length() : 0;
        info.stored_bytes += (entry->data ? entry->range.length() : 0) +
                             (entry->next_data ? entry->range.length() : 0);
        previous = entry;
    }
}

} // namespace cd
