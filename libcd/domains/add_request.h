// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "ranges/entry.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace cd {

// The arguments of an add call.
struct AddRequest {
    const cd_addrspec *list = nullptr;
    int count = 0;
    Restoration restoration = Restoration::copy;
    cd_regen_fn regen = nullptr;
    bool in_place = false;    // shadow=none for these entries
    bool checksummed = false; // checksum=crc32c for these entries
    uint64_t call = 0;        // number of this call, unique in the process
    const char *cd = "";      // its name, for messages
};

// Fails unless list and count can be read and every element is a range. `cd`: the CD's name, for
// messages.
Status check_list(const cd_addrspec *list, int count, const char *cd);

// Checks all but the elements: the list can be read, and a regen function is given.
Status check_call(const AddRequest &request);

// Checks the call, and that every element is a range with legal labels.
Status check_request(const AddRequest &request);

inline bool is_range(const cd_addrspec &element) {
    return element.length == 0 ||
           (element.address != nullptr &&
            reinterpret_cast<uintptr_t>(element.address) <= UINTPTR_MAX - element.length);
}

inline bool has_legal_labels(const cd_addrspec &element, Restoration restoration) {
    const int access = element.addr_tp;
    const int scope = element.addr_scope;
    return (access == CD_READ_ONLY ||
            (access == CD_READ_WRITE &&
             (restoration != Restoration::regen || element.length == 0))) &&
           (scope == CD_GLOBAL || scope == CD_CONSTRAINED);
}

// Returns the bytes that a checked element names.
inline Range range_of(const cd_addrspec &element) {
    const auto begin = reinterpret_cast<uintptr_t>(element.address);
    return {begin, begin + element.length};
}

// One element of a call's list, or several that follow each other in the list and in memory and are
// otherwise equal.
struct Element {
    Range range;
    addr_type access;
    addr_scope scope;
    uint32_t index; // of the first one in the list
    uint32_t count;
};

// Decides whether equal neighbours of a list become one Element.
enum class Neighbours : uint8_t { apart, together };

// Returns the elements of a checked list without the empty ones. Sorts them by address, so that
// neighbours are found without searching, unless elements overlap: then their order matters. May
// throw std::bad_alloc.
std::vector<Element> ordered_elements(const cd_addrspec *list, int count);

// Checks and returns the elements of a request in one walk, since lists are long. Returns nothing
// if an element is not legal; check_request() then returns the error. The call is checked already.
std::optional<std::vector<Element>> legal_elements(const AddRequest &request,
                                                   Neighbours neighbours);

} // namespace cd
