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
// meanwhile. What lies one behind the other in the file is written at once. May throw
// std::bad_alloc.
class DataWriter {
public:
    DataWriter(Volume &volume, bool checksummed) : volume_(volume), checksummed_(checksummed) {}

    // checksums: one for each checked part.
    Status write(uint64_t offset, const void *from, size_t length,
                 std::vector<uint32_t> &checksums);
    Status flush();

    bool has_written() const { return written_; }

private:
    Volume &volume_;
    bool checksummed_;
    std::vector<std::byte> buffer_;
    size_t used_ = 0;
    uint64_t offset_ = 0; // of the buffer in the file
    bool written_ = false;
};

} // namespace cd
