// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "ranges/entry.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace cd {

// What an add call was given.
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

// Whether list and count can be read and every element is a range. cd: its name, for messages.
Status check_list(const cd_addrspec *list, int count, const char *cd);

// Whether the list can be read, and the regen function is there: all but the elements.
Status check_call(const AddRequest &request);

// The same, and whether every element is a range with legal labels.
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

// The bytes that an element names. Only after a check.
inline Range range_of(const cd_addrspec &element) {
    const auto begin = reinterpret_cast<uintptr_t>(element.address);
    return {begin, begin + element.length};
}

// One element of a call's list, or several that follow each other there and in memory and differ in
// nothing else.
struct Element {
    Range range;
    addr_type access;
    addr_scope scope;
    uint32_t index; // in the list, of the first
    uint32_t count; // how many
};

enum class Neighbours : uint8_t { apart, together };

// The elements of a (checked) list that are not empty, in order of address if that gives the same
// result as the given order: neighbours are then found without searching. It does unless elements
// overlap. May throw std::bad_alloc.
std::vector<Element> ordered_elements(const cd_addrspec *list, int count);

// The same of a request whose call is checked. Nothing where an element is not legal, of which
// check_request tells: lists are long, and walked once.
std::optional<std::vector<Element>> legal_elements(const AddRequest &request,
                                                   Neighbours neighbours);

} // namespace cd
