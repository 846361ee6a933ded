// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "restart/by_name.h"

#include "restart/memory_names.h"
#include "restart/placing.h"

#include <algorithm>

namespace cd {
namespace {

// What holder's unbound[number] has of the bytes that are at offset of its object or region and at
// gap.
void bind_named(Arrivals &arrivals, Domain &holder, size_t number, uint64_t offset, Range gap) {
    const Unbound &found = holder.unbound[number];
    const uint64_t first = std::max(found.offset, offset);
    const uint64_t last = std::min(found.offset + found.old.length(), offset + gap.length());
    if (first < last) {
        arrivals.bind(
            holder, number,
            {found.old.begin + (first - found.offset), found.old.begin + (last - found.offset)},
            gap.begin + (first - offset));
    }
}

} // namespace

Status ByName::bind(const StoredName &name, const StoredKey &key, Range gap) {
    const auto known = name.kind == format::NameKind::region ? Unbound::Known::in_region
                                                             : Unbound::Known::in_object;
    const size_t bound_before = arrivals_.count();
    for (Domain *holder : arrivals_.waiting()) {
        const size_t one = holder->unbound.one_of(known, name.text);
        if (one < holder->unbound.size()) {
            if (Status status = check_region(*holder, holder->unbound[one], key.length); !status) {
                return status;
            }
        }
    }
    for (Domain *holder : arrivals_.waiting()) {
        bind_parts(*holder, holder->unbound.in_named(known, name.text, key.offset, gap.length()),
                   key.offset, gap);
    }
    return known == Unbound::Known::in_object ? bind_of_build(name, key, gap, bound_before)
                                              : Status::ok();
}

// What has the object's name comes before what has only its build-id, as in attach.
Status ByName::bind_of_build(const StoredName &name, const StoredKey &key, Range gap,
                             size_t bound_before) {
    const auto known = Unbound::Known::in_object;
    Domain *holder = nullptr; // of bytes of another build of the object
    std::string other_build;
    if (compared_with_ != name.text) {
        compared_.clear();
        compared_with_ = name.text;
    }
    for (Domain *domain : arrivals_.waiting()) {
        UnboundRanges::Numbers numbers;
        domain->unbound.each_object([&](const std::string &object) {
            const auto [at, is_new] = compared_.try_emplace(object, Named::something_else);
            if (is_new) {
                at->second = compare(object, name.text);
            }
            if (at->second == Named::other_build) {
                holder = domain;
                other_build = object;
            } else if (at->second == Named::same_build) {
                const auto more = domain->unbound.in_named(known, object, key.offset, gap.length());
                numbers.insert(numbers.end(), more.begin(), more.end());
            }
        });
        std::ranges::sort(numbers);
        bind_parts(*domain, numbers, key.offset, gap);
    }
    if (holder != nullptr && arrivals_.count() == bound_before &&
        !arrivals_.domain().ledger->knows_object(name.text)) {
        const size_t one = holder->unbound.one_of(known, other_build);
        return other_object(*holder, holder->unbound[one], name.text);
    }
    return Status::ok();
}

void ByName::bind_parts(Domain &holder, const UnboundRanges::Numbers &numbers, uint64_t offset,
                        Range gap) {
    for (const size_t number : numbers) {
        bind_named(arrivals_, holder, number, offset, gap);
    }
}

ByName::Named ByName::compare(const std::string &object, const std::string &here) {
    if (object == here) {
        return Named::something_else; // and bound already
    }
    MemoryNames &book = MemoryNames::instance();
    if (book.is_same(object, here)) {
        return Named::same_build;
    }
    return book.instead_of(format::NameKind::object, object) == here ? Named::other_build
                                                                     : Named::something_else;
}

} // namespace cd
