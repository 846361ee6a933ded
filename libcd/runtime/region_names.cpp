// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/region_names.h"

#include "restart/memory_names.h"
#include "runtime/registry.h"

#include <cstdio>
#include <string>

namespace cd {
namespace {

// Keeps all other threads from adding to CDs, opening or ending them.
class Rest {
public:
    Rest() { Registry::instance().lock_everything(); }
    Rest(const Rest &) = delete;
    Rest &operator=(const Rest &) = delete;
    ~Rest() { Registry::instance().unlock_everything(); }

    // Returns a CD with a store of this process that holds some of range, or nullptr.
    const Resident *holder_of(Range range) const {
        const Resident *holder = nullptr;
        Registry::instance().for_each([&](const Resident &resident) {
            const auto at = resident.entries.find(range.begin);
            if (resident.store != nullptr && resident.store->is_of_this_process() &&
                at != resident.entries.end() && at->second->range.begin < range.end) {
                holder = &resident;
            }
        });
        return holder;
    }
};

Status refuse(const char *name, Range before, Range range, const Resident &holder) {
    std::string instead = "its name cannot be taken back";
    if (!range.empty()) {
        char place[32];
        std::snprintf(place, sizeof place, "%p", range.address());
        instead = "it cannot name " + std::to_string(range.length()) + " bytes at " + place;
    }
    return fail(CD_ERROR_NAME_IN_USE,
                "cd_name_region: CD %s holds bytes of \"%s\" (%zu bytes at %p) in its store %s by "
                "that name, so %s; delete them from the CD first (delete_from_cd), or commit it",
                holder.name(), name, before.length(), before.address(), holder.store->path(),
                instead.c_str());
}

} // namespace

Status name_region(const char *name, Range range) {
    MemoryNames &book = MemoryNames::instance();
    Range left;
    Status status;
    Registry::instance().between_forks([&] { status = book.name_region(name, range, &left); });
    if (left.empty()) {
        return status;
    }
    const Rest rest;
    status = book.name_region(name, range, &left); // other threads may have used it meanwhile
    if (left.empty()) {
        return status;
    }
    const Resident *holder = rest.holder_of(left);
    return holder != nullptr ? refuse(name, left, range, *holder) : book.name_region(name, range);
}

} // namespace cd
