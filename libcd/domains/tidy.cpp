// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/tidy.h"

#include "base/attempt.h"

#include <memory>
#include <utility>
#include <vector>

namespace cd {
namespace {

bool lies_in_a_sparse_place(const Entry &entry) {
    return entry.data && entry.data.block().backing() != nullptr &&
           entry.data.block().backing()->is_sparse();
}

Status copy_what_is_left(Domain &domain) {
    struct Copy {
        Entry *entry;
        Piece data;
    };
    std::vector<Copy> copies;
    const std::unique_ptr<Transaction> transaction = domain.ledger->begin();
    for (const auto &[address, entry] : domain.entries) {
        if (!lies_in_a_sparse_place(*entry)) {
            continue;
        }
        Piece place;
        if (Status status = transaction->copy(entry->data, entry->range.length(), place); !status) {
            return status;
        }
        if (place) {
            copies.push_back({entry, std::move(place)});
        }
    }
    for (const Copy &copy : copies) {
        transaction->replace_data(domain.number, copy.entry->range, copy.data);
    }
    if (Status status = transaction->commit(); !status) {
        return status;
    }
    for (Copy &copy : copies) {
        copy.entry->data.give_up(copy.entry->range.length());
        copy.entry->data = std::move(copy.data);
        copy.entry->data_shared = false;
    }
    return Status::ok();
}

} // namespace

void tidy(Domain &domain) noexcept {
    if (domain.ledger != nullptr && domain.ledger->wastes_room(domain.accepted_waste)) {
        attempt_quietly([&] { return copy_what_is_left(domain); });
        domain.accepted_waste = domain.ledger->wasted_room();
    }
}

} // namespace cd
