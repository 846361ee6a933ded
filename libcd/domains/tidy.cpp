// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/tidy.h"

#include "base/no_throw.h"

#include <memory>
#include <utility>
#include <vector>

namespace cd {
namespace {

bool lies_in_a_sparse_place(const Piece &data) {
    return data && data.block().backing() != nullptr && data.block().backing()->is_sparse();
}

// What an Entry, or an Unbound, has in a sparse place, elsewhere.
template <typename Holder> struct Copy {
    Holder *holder;
    Range range; // of the holder
    Piece data;

    void take_effect() noexcept {
        holder->data.give_up(range.length());
        holder->data = std::move(data);
    }
};

template <typename Holder>
Status copy_if_sparse(Transaction &transaction, Holder &holder, Range range,
                      std::vector<Copy<Holder>> &copies) {
    if (!lies_in_a_sparse_place(holder.data)) {
        return Status::ok();
    }
    Piece place;
    const StoredPart part = {&holder.data, range.length()};
    Status status = transaction.copy({&part, 1}, place);
    if (status && place) {
        copies.push_back({&holder, range, std::move(place)});
    }
    return status;
}

Status copy_what_is_left(Domain &domain) {
    std::vector<Copy<Entry>> entries;
    std::vector<Copy<Unbound>> unbound;
    const std::unique_ptr<Transaction> transaction = domain.ledger->begin();
    for (const auto &[address, entry] : domain.entries) {
        if (Status status = copy_if_sparse(*transaction, *entry, entry->range, entries); !status) {
            return status;
        }
    }
    for (Unbound &found : domain.unbound) {
        if (Status status = copy_if_sparse(*transaction, found, found.old, unbound); !status) {
            return status;
        }
    }
    for (const Copy<Entry> &copy : entries) {
        transaction->replace_data(domain.number, copy.range, copy.data);
    }
    for (const Copy<Unbound> &copy : unbound) {
        transaction->replace_unbound_data(domain.number, copy.holder->space, copy.range, copy.data);
    }
    if (Status status = transaction->commit(); !status) {
        return status;
    }
    for (Copy<Entry> &copy : entries) {
        copy.take_effect();
        copy.holder->data_shared = false;
    }
    for (Copy<Unbound> &copy : unbound) {
        copy.take_effect();
    }
    return Status::ok();
}

} // namespace

void tidy(Domain &domain) noexcept {
    if (domain.ledger != nullptr && domain.ledger->wastes_room(domain.accepted_waste)) {
        best_effort([&] { return copy_what_is_left(domain); });
        domain.accepted_waste = domain.ledger->wasted_room();
    }
}

} // namespace cd
