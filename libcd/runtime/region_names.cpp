// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/region_names.h"

#include "restart/address_book.h"
#include "runtime/registry.h"

#include <cstdio>
#include <string>

namespace cd {
namespace {

// A moment when nobody else adds to CDs, opens or ends them.
class Rest {
public:
    Rest() { Registry::instance().lock_everything(); }
    Rest(const Rest &) = delete;
    Rest &operator=(const Rest &) = delete;
    ~Rest() { Registry::instance().unlock_everything(); }

    // A CD with a store that holds some of range; nullptr: there is none.
    const Resident *holder_of(Range range) const {
        const Resident *holder = nullptr;
        Registry::instance().for_each([&](const Resident &resident) {
            const auto at = resident.entries.find(range.begin);
            if (resident.ledger != nullptr && at != resident.entries.end() &&
                at->second->range.begin < range.end) {
                holder = &resident;
            }
        });
        return holder;
    }
};

// A region may grow: another process takes it in the greatest length that the store has.
bool leaves(Range before, Range range) {
    return !before.empty() && (before.begin != range.begin || range.end < before.end);
}

Status refuse(const char *name, Range before, Range range, const Resident &holder) {
    std::string instead = "its name cannot be taken back";
    if (!range.empty()) {
        char place[32];
        std::snprintf(place, sizeof place, "%p", range.address());
        instead = "it cannot name " + std::to_string(range.length()) + " bytes at " + place;
    }
    return fail(CD_ERROR_NAME_IN_USE,
                "cd_name_region: CD %s holds bytes of \"%s\" (%zu bytes at %p), which its store %s "
                "has by that name, so %s; delete them from the CD first (delete_from_cd), or "
                "commit it, and give buffers that take turns a name each",
                holder.name(), name, before.length(), before.address(), holder.ledger->path(),
                instead.c_str());
}

} // namespace

Status name_region(const char *name, Range range) {
    AddressBook &book = AddressBook::instance();
    const auto before = [&] { return name == nullptr ? Range() : book.region(name); };
    Status status;
    bool is_done = false;
    Registry::instance().between_forks([&] {
        is_done = !leaves(before(), range);
        status = is_done ? book.name_region(name, range) : Status::ok();
    });
    if (is_done) {
        return status;
    }
    const Rest rest;
    const Range old = before(); // another thread may have moved it meanwhile
    const Resident *holder = leaves(old, range) ? rest.holder_of(old) : nullptr;
    return holder == nullptr ? book.name_region(name, range) : refuse(name, old, range, *holder);
}

} // namespace cd
