// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/format.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace cd {

// Of a snapshot, at most: an entry and what says where its data are, but for their checksums.
constexpr uint64_t entry_size = 64;

constexpr uint64_t checksums_size(uint64_t length) {
    return (length / format::checked_part + 1) * sizeof(uint32_t);
}

// By how much changes make the state larger.
struct Growth {
    size_t entries = 0;
    uint64_t bytes = 0;                  // of names and checksums beside them
    size_t possible = 0;                 // entries that are not there yet, or were not counted
    std::optional<size_t> retained = {}; // as ChangeWriter::retain(): so many points in time stay

    bool is_any() const { return entries > 0 || bytes > 0 || retained; }
};

} // namespace cd
