// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/come_to.h"

#include <algorithm>

namespace cd {
namespace {

Status not_come_to(const Domain &domain, const char *operation, Range here, uint64_t ordinal) {
    return fail(CD_ERROR_RESTART_MISMATCH,
                "CD %s cannot %s: of the %zu bytes at %p it has what its store %s holds of range "
                "%llu of the CD, to which this program has not come yet; restore the CD before, "
                "add and delete the same ranges in the same order as the program that wrote the "
                "store, or start with CD_RESTART=no",
                domain.name(), operation, here.length(), here.address(), domain.ledger->path(),
                static_cast<unsigned long long>(ordinal));
}

Status not_added(const Domain &domain, const Unbound &found) {
    return fail(CD_ERROR_RESTART_UNBOUND,
                "CD %s cannot commit: its store %s holds %zu bytes of range %llu (of %llu bytes) "
                "of the CD, which this program has not added yet; restore the CD before, add the "
                "same ranges in the same order as the program that wrote the store, give them "
                "names with cd_name_region, or start with CD_RESTART=no",
                domain.name(), domain.ledger->path(), found.old.length(),
                static_cast<unsigned long long>(found.ordinal),
                static_cast<unsigned long long>(found.length));
}

} // namespace

Status check_deletable(const Domain &domain, Range range) {
    if (!domain.restarted) {
        return Status::ok();
    }
    for (const OrderedParts *parts : {&domain.bound_ahead, &domain.bound_early}) {
        const auto at = parts->find(range.begin);
        if (at != parts->end() && at->first < range.end) {
            const auto &[begin, part] = *at;
            return not_come_to(domain, "delete",
                               {std::max(range.begin, begin), std::min(range.end, part.end)},
                               part.ordinal);
        }
    }
    return Status::ok();
}

Status check_committable(const Domain &domain) {
    if (domain.is_root() || !domain.restarted) {
        return Status::ok();
    }
    for (const OrderedParts *parts : {&domain.bound_ahead, &domain.bound_early}) {
        if (!parts->empty()) {
            const auto &[begin, part] = *parts->begin();
            return not_come_to(domain, "commit", {begin, part.end}, part.ordinal);
        }
    }
    for (const Unbound &found : domain.unbound) {
        if (found.known == Unbound::Known::by_order && *found.name == domain.path) {
            return not_added(domain, found);
        }
    }
    return Status::ok();
}

void come_to_what_is_given(const Domain &child) noexcept {
    OrderedParts &early = child.parent->bound_early;
    for (auto at = child.entries.begin(); at != child.entries.end() && !early.empty(); ++at) {
        early.erase(at->second->range);
    }
}

} // namespace cd
