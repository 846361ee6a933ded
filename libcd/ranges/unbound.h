// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "ranges/entry.h"

#include <cstdint>
#include <memory>
#include <string>

namespace cd {

// What a CD holds that came from another process, as long as it is not known where it belongs in
// this one.
struct Unbound {
    enum class Known {
        by_order, // the ordinal among the ranges that a CD, known by its path, added
        in_object,
        in_region
    };

    uint64_t space = 0; // of the process that added it
    Range old;          // where it was there
    addr_type access = CD_READ_ONLY;
    addr_scope scope = CD_GLOBAL;
    Restoration restoration = Restoration::copy;
    Piece data;
    bool leaving = false; // an operation that can still fail binds it
    bool owed = false;    // a restore would have written it: do so once it is bound

    Known known = Known::by_order;
    std::shared_ptr<const std::string> name; // path, object or region
    uint64_t ordinal = 0;
    uint64_t offset = 0; // in the range that was added, the object, or the region
    uint64_t length = 0; // by_order: of the range that was added; in_region: of the region

    // Cuts off what lies from address (of the other process) on.
    Unbound split(uint64_t address) {
        Unbound second;
        second.space = space;
        second.old = {address, old.end};
        second.access = access;
        second.scope = scope;
        second.restoration = restoration;
        second.data = data.share(address - old.begin);
        second.owed = owed;
        second.known = known;
        second.name = name;
        second.ordinal = ordinal;
        second.offset = offset + (address - old.begin);
        second.length = length;
        old.end = address;
        return second;
    }
};

} // namespace cd
