// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "ranges/entry.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace cd {

// What a CD holds that came from another process, as long as it is not known where it belongs in
// this one. Counts as a user of its data, as an Entry does.
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
    bool recent = false;  // came from a child since the CD's point in time
    // By a descendant that a restore ended: for memory, not for the CD. By which one, as its path
    // and the interval in which it lived, since paths begin anew in each.
    bool left = false;
    std::shared_ptr<const std::string> left_by;
    uint64_t left_in = 0;
    bool added_anew = false; // by a process for which later ones of its order waited
    // A CD below this one, which added it first after a point in time, had other values by then:
    // the program gives it these anew.
    bool filled_anew = false;
    // A CD below this one has added it since the point in time, and checksums tell what it found.
    bool compared = false;
    bool owed = false; // a restore would have written it: do so once it is bound

    Known known = Known::by_order;
    std::shared_ptr<const std::string> name; // path, object or region
    uint64_t ordinal = 0;
    uint64_t offset = 0; // in the range that was added, the object, or the region
    uint64_t length = 0; // by_order: of the range that was added; in_region: of the region

    Unbound() = default;
    Unbound(Unbound &&other) noexcept = default;
    Unbound &operator=(Unbound &&other) noexcept {
        if (this != &other) {
            std::destroy_at(this);
            std::construct_at(this, std::move(other));
        }
        return *this;
    }
    ~Unbound() { data.give_up(old.length()); }

    // The same once more, of which one will go.
    Unbound copy() const {
        Unbound same = labels();
        same.old = old;
        same.offset = offset;
        same.data = data.share_use(old.length());
        return same;
    }

    // Cuts off what lies from address (of the other process) on.
    Unbound split(uint64_t address) {
        Unbound second = labels();
        second.old = {address, old.end};
        second.offset = offset + (address - old.begin);
        second.data = data.share(address - old.begin);
        old.end = address;
        return second;
    }

    // Takes back what split() cut off.
    void rejoin(Unbound &second) {
        second.data.reset(); // this one uses these bytes again
        old.end = second.old.end;
    }

private:
    Unbound labels() const {
        Unbound same;
        same.space = space;
        same.access = access;
        same.scope = scope;
        same.restoration = restoration;
        same.recent = recent;
        same.left = left;
        same.left_by = left_by;
        same.left_in = left_in;
        same.added_anew = added_anew;
        same.filled_anew = filled_anew;
        same.compared = compared;
        same.owed = owed;
        same.known = known;
        same.name = name;
        same.ordinal = ordinal;
        same.length = length;
        return same;
    }
};

} // namespace cd
