// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "ranges/entry.h"

#include <cstdint>

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

// The same, and that labels and regen function are legal.
Status check_request(const AddRequest &request);

// The bytes that an element names. Only after a check.
inline Range range_of(const cd_addrspec &element) {
    const auto begin = reinterpret_cast<uintptr_t>(element.address);
    return {begin, begin + element.length};
}

} // namespace cd
