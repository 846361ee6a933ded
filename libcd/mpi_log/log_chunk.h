// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <cstdint>

namespace cd {

// A run of a log's records, and the pages that they lie in. Positions in the log refer to it, so it
// stays where it is, whatever becomes of the pages.
struct LogChunk {
    LogChunk *next = nullptr;
    std::byte *pages = nullptr;  // nullptr while they are in a file only
    size_t size = 0;             // of the pages
    size_t used = 0;             // where the next record goes
    uint64_t entries_before = 0; // of the log, and their bytes: when the chunk was made
    uint64_t bytes_before = 0;

    bool has_room(size_t record) const { return size - used >= record; }
    std::byte *at(size_t offset) { return pages + offset; }
};

} // namespace cd
