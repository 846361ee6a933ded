// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/allocator.h"
#include "file_store/direct_io.h"
#include "file_store/state.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace cd {

// Writes application memory to a volume, with checksums of exactly the written bytes, which other
// threads may change meanwhile. Small data go through a buffer that joins neighbouring extents,
// much data past the page cache, and data of a file in memory directly there. May throw
// std::bad_alloc.
class DataWriter {
public:
    // forced: the caller calls sync_data() later.
    DataWriter(Volume &volume, bool checksummed, bool forced)
        : volume_(volume), checksummed_(checksummed), forced_(forced) {}

    // Writes to the begin of an extent that was reserved for `length` bytes. checksums: gets one
    // for each checked part.
    Status write(uint64_t offset, const void *from, size_t length, Checksums &checksums);
    // Writes everything that is buffered, and waits for helper threads.
    Status flush();
    // True if helper threads may still write to the place after write() has returned.
    bool may_be_under_way(size_t length) const;

    bool has_written() const { return written_; }

private:
    void write_in_place(std::byte *to, const std::byte *from, size_t length, Checksums &checksums);
    Status write_by_buffer(uint64_t offset, const std::byte *from, size_t length,
                           Checksums &checksums);
    bool goes_past_cache(size_t length);
    void fill_room();
    Status write_buffer();
    void begin_sync(uint64_t offset, uint64_t length) noexcept;
    void begin_waiting() noexcept;

    Volume &volume_;
    bool checksummed_;
    bool forced_;
    std::vector<std::byte> buffer_;
    size_t used_ = 0;
    uint64_t offset_ = 0;   // of the buffer in the file
    uint64_t room_end_ = 0; // of the last written extent
    bool written_ = false;
    uint64_t in_place_ = 0;        // bytes
    uint64_t through_buffers_ = 0; // bytes
    std::optional<DirectWrites> direct_;
    uint64_t waiting_from_ = 0;        // begin of what is written and not yet begun to sync
    uint64_t waiting_to_ = UINT64_MAX; // its end; nothing yet
    uint64_t waiting_ = 0;             // bytes
};

} // namespace cd
