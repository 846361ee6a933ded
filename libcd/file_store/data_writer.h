// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/volume.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cd {

// Writes application memory to a volume, and computes checksums of exactly what is written: the
// bytes go through a buffer that stays in the caches, because other threads may change them
// meanwhile. What lies one behind the other in the file is written at once. The disk works while
// more is copied. May throw std::bad_alloc.
class DataWriter {
public:
    // forced: sync_data() follows.
    DataWriter(Volume &volume, bool checksummed, bool forced)
        : volume_(volume), checksummed_(checksummed), forced_(forced) {}

    // checksums: one for each checked part.
    Status write(uint64_t offset, const void *from, size_t length,
                 std::vector<uint32_t> &checksums);
    Status flush();

    bool has_written() const { return written_; }

private:
    void begin_sync(uint64_t offset, uint64_t length) noexcept;

    Volume &volume_;
    bool checksummed_;
    bool forced_;
    std::vector<std::byte> buffer_;
    size_t used_ = 0;
    uint64_t offset_ = 0; // of the buffer in the file
    bool written_ = false;
    uint64_t waiting_from_ = 0; // what is written, and the disk has not begun with
    uint64_t waiting_to_ = 0;
};

} // namespace cd
