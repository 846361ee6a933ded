// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "restart/arrivals.h"

#include "base/reserve_one.h"
#include "domains/ancestry.h"
#include "restart/placing.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

namespace cd {
namespace {

Domain &root_of(Domain &domain) {
    Domain *at = &domain;
    while (!at->is_root()) {
        at = at->parent;
    }
    return *at;
}

Status read(const Piece &data, Range here) {
    return data.block().backing()->read(data.offset(), here.address(), here.length());
}

enum class Zeros { are_values, may_be_of_the_system };

// Whether memory has other values than the data, for what is told: data that cannot be read fail
// nothing here.
bool has_others(const Piece &data, Range here, Zeros zeros) {
    constexpr size_t most = 65536;
    std::vector<char> stored;
    const SavedMessage keeper;
    for (size_t done = 0; done < here.length(); done += stored.size()) {
        stored.resize(std::min(most, here.length() - done));
        if (!data.block().backing()->read(data.offset() + done, stored.data(), stored.size())) {
            return true;
        }
        const char *const memory = static_cast<const char *>(here.address()) + done;
        const bool may_be_fresh =
            zeros == Zeros::may_be_of_the_system &&
            std::all_of(memory, memory + stored.size(), [](char byte) { return byte == 0; });
        if (!may_be_fresh && std::memcmp(memory, stored.data(), stored.size()) != 0) {
            return true;
        }
    }
    return false;
}

std::vector<Domain *> waiting_in_family_of(Domain &domain) {
    std::vector<Domain *> family = subtree_of(root_of(domain));
    std::erase_if(family, [](const Domain *each) { return each->unbound.empty(); });
    return family;
}

} // namespace

Arrivals::Arrivals(Domain &domain, const AddRequest &request)
    : domain_(domain), request_(request), waiting_(waiting_in_family_of(domain)) {}

Arrivals::~Arrivals() {
    if (kept_) {
        return;
    }
    if (published_) {
        unpublish();
    }
    for (const Bound &bound : bound_) {
        bound.domain->entries.reject_arriving();
    }
    for (const Leaving &leaving : leaving_) {
        leaving.domain->unbound[leaving.number].leaving = false;
    }
}

void Arrivals::bind(Domain &holder, size_t number, Range part, uintptr_t address) {
    const Unbound &whole = holder.unbound[number];
    if (whole.leaving ||
        (whole.left ? !comes_again(whole) : !is_free(holder, address, part.length()))) {
        return;
    }
    // Its function is given again by a call that has one, for all CDs that hold the bytes.
    const bool by_function = whole.restoration == Restoration::regen;
    if (by_function && &holder != &domain_ && request_.restoration != Restoration::regen) {
        return;
    }
    cut(holder, number, part.end);
    if (holder.unbound[number].old.begin < part.begin) {
        cut(holder, number, part.begin);
        number = holder.unbound.size() - 1;
    }
    Unbound &found = holder.unbound[number];
    if (found.left) {
        return pass(holder, number, address);
    }
    if (found.owed) {
        owed_.push_back({&holder, number, address});
    }
    reserve_one(bound_);
    reserve_one(leaving_);
    if (found.known == Unbound::Known::by_order && *found.name == holder.path) {
        const OrderedParts::Part there = {address + found.old.length(), found.space,
                                          found.old.begin, found.ordinal, found.offset};
        if (&holder != &domain_) {
            ahead_.push_back({&holder, OrderedParts::make(address, there)});
        }
        if (found.added_anew) {
            anew_.push_back({&holder, OrderedParts::make(address, there)});
        }
    }
    Entry &entry = place_arriving(holder, found, address);
    if (by_function) {
        entry.regen = request_.regen;
        entry.origin.call = request_.call;
    }
    leave(holder, number);
    bound_.push_back({&holder, found.space, found.old, &entry, entry.range});
}

void Arrivals::supersede(Domain &holder, size_t number) {
    const Unbound &other = holder.unbound[number];
    superseded_.push_back({&holder, other.space, other.old});
    leave(holder, number);
}

void Arrivals::reach(Range bytes, uint64_t ordinal) {
    OrderedParts &ahead = domain_.bound_ahead;
    ahead.make_border(bytes.begin);
    ahead.make_border(bytes.end);
    reached_.push_back(bytes);
    for (auto at = ahead.find(bytes.begin); at != ahead.end() && at->first < bytes.end; ++at) {
        if (domain_.restarted && at->second.ordinal > ordinal) {
            early_.push_back(OrderedParts::make(at->first, at->second));
        }
    }
}

void Arrivals::note_what_is_new(Range bytes, uint64_t ordinal) {
    const auto note = [&](uintptr_t begin, uintptr_t end) {
        if (begin < end) {
            const OrderedParts::Part part = {end, 0, 0, ordinal, begin - bytes.begin};
            anew_.push_back({&domain_, OrderedParts::make(begin, part)});
        }
    };
    uintptr_t begin = bytes.begin;
    const RangeIndex &entries = domain_.entries;
    for (auto at = entries.find(begin); at != entries.end(); ++at) {
        const Range arrived = at->second->range;
        if (arrived.begin >= bytes.end) {
            break;
        }
        note(begin, arrived.begin);
        begin = arrived.end;
    }
    note(begin, bytes.end);
}

Status Arrivals::pay_what_is_owed(std::vector<cd_addrspec> &to_regenerate) {
    if (Status status = owed_.empty() ? Status::ok() : domain_.ledger->check_readable(); !status) {
        return status;
    }
    std::ranges::stable_sort(owed_, std::ranges::greater(),
                             [](const Owed &owed) { return owed.domain->depth; });
    for (const Owed &owed : owed_) {
        if (Status status = pay(owed, to_regenerate); !status) {
            return status;
        }
    }
    return Status::ok();
}

void Arrivals::publish(OrderedRanges ordered) {
    std::unique_ptr<Transaction> binds = domain_.ledger->begin();
    for (const Bound &bound : bound_) {
        binds->bind(bound.domain->number, bound.space, bound.old, bound.entry->range.begin, 1);
    }
    for (const auto &[domain, space, old] : superseded_) {
        binds->erase_unbound(domain->number, space, old);
    }
    for (const auto &[domain, number] : leaving_) {
        gone_[domain].push_back(number);
    }
    for (auto &[domain, numbers] : gone_) {
        std::ranges::sort(numbers);
    }
    domain_.ledger->propose(std::move(binds), domain_.number, std::move(ordered));
    for (const Bound &bound : bound_) {
        bound.domain->entries.accept_arriving();
    }
    published_ = true;
}

void Arrivals::keep() noexcept {
    for (const auto &[domain, numbers] : gone_) {
        domain->unbound.remove(numbers);
        domain_.ledger->unbound -= numbers.size();
    }
    for (const Range &range : reached_) {
        domain_.bound_ahead.erase(range);
    }
    for (OrderedParts::Node &part : early_) {
        domain_.bound_early.add(std::move(part));
    }
    for (auto &[domain, part] : ahead_) {
        domain->bound_ahead.add(std::move(part));
    }
    for (auto &[domain, part] : anew_) {
        domain->added_anew.add(std::move(part));
    }
    domain_.goes_on |= goes_on_;
    domain_.ledger->accept_proposed();
    kept_ = true;
}

// The call may have split entries, which it does not take back.
void Arrivals::unpublish() noexcept {
    for (const Bound &bound : bound_) {
        RangeIndex &entries = bound.domain->entries;
        auto at = entries.find(bound.here.begin);
        while (at != entries.end() && at->second->range.begin < bound.here.end) {
            at = entries.erase(at);
        }
    }
    domain_.ledger->reject_proposed();
}

void Arrivals::leave(Domain &holder, size_t number) {
    leaving_.push_back({&holder, number});
    holder.unbound[number].leaving = true;
}

void Arrivals::cut(Domain &holder, size_t number, uint64_t address) {
    if (address < holder.unbound[number].old.end) {
        Unbound second = holder.unbound[number].split(address);
        try {
            holder.unbound.push_back(std::move(second));
        } catch (...) {
            holder.unbound[number].rejoin(second);
            throw;
        }
        ++domain_.ledger->unbound;
    }
}

// What a descendant had when a restore ended it was in memory from then on, and in no CD; before it
// came to that memory had what the program had made of it by then. Its own children may have given
// it the bytes.
bool Arrivals::comes_again(const Unbound &left) const {
    for (const Domain *at = &domain_; left.owed && at != nullptr; at = at->parent) {
        if (at->path == *left.left_by) {
            return interval_of(*at) == left.left_in;
        }
    }
    return false;
}

// Where the holder has these bytes itself they are in memory as it has them.
void Arrivals::pass(Domain &holder, size_t number, uintptr_t address) {
    if (is_free(holder, address, holder.unbound[number].old.length())) {
        owed_.push_back({&holder, number, address});
    }
    supersede(holder, number);
}

// The program may have given the bytes their first values for the call's CD after the one above was
// restored. Where it did so in the process before they stay. Elsewhere they are lost, since a CD
// may as well count on what another one has left in memory. Neither without a word: where nobody
// knows what the program does with this memory, zeros may be what it has made of it, too.
Status Arrivals::fill_below(const Unbound &found, Range here) {
    if (found.filled_anew) {
        kept_values_ = kept_values_ || (!domain_.ledger->told_of_kept_values &&
                                        has_others(found.data, here, Zeros::are_values));
        return Status::ok();
    }
    const Zeros zeros = found.compared ? Zeros::may_be_of_the_system : Zeros::are_values;
    lost_values_ = lost_values_ ||
                   (!domain_.ledger->told_of_lost_values && has_others(found.data, here, zeros));
    return read(found.data, here);
}

Status Arrivals::pay(const Owed &owed, std::vector<cd_addrspec> &to_regenerate) {
    const Unbound &found = owed.domain->unbound[owed.number];
    const Range here = {owed.address, owed.address + found.old.length()};
    Status status;
    switch (found.restoration) {
    case Restoration::copy:
        return found.left || owed.domain == &domain_ ? read(found.data, here)
                                                     : fill_below(found, here);
    case Restoration::parent:
        for_each_source(
            owed.domain->parent, here,
            [&](const Entry &source, Range part) {
                if (status.is_ok()) {
                    status = source.data.block().backing()->read(
                        source.data.offset() + (part.begin - source.range.begin), part.address(),
                        part.length());
                }
            },
            [](Range) {});
        return status;
    case Restoration::regen:
        if (request_.restoration == Restoration::regen) {
            to_regenerate.push_back({here.address(), here.length(), CD_READ_ONLY, found.scope});
        }
        return status;
    }
    return status;
}

} // namespace cd
