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

// Writes application memory to a volume, and computes checksums of exactly what is written, which
// other threads may change meanwhile. The bytes go through a buffer that stays in the caches; what
// lies in neighbouring extents of the file is written at once, and the disk works while more is
// copied. Of an operation that writes much, and that nobody reads soon, they go past the page
// cache; where the file lives in memory they go there directly. May throw std::bad_alloc.
class DataWriter {
public:
    // forced: sync_data() follows.
    DataWriter(Volume &volume, bool checksummed, bool forced)
        : volume_(volume), checksummed_(checksummed), forced_(forced) {}

    // To the begin of an extent that was reserved for length bytes. checksums: one for each checked
    // part.
    Status write(uint64_t offset, const void *from, size_t length, Checksums &checksums);
    // All has been written then, or an error is told, and nothing is under way.
    Status flush();
    // Whether what goes to this place may be under way when write() has returned.
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
    uint64_t room_end_ = 0; // of the extent that was written last
    bool written_ = false;
    uint64_t in_place_ = 0;        // bytes
    uint64_t through_buffers_ = 0; // bytes
    std::optional<DirectWrites> direct_;
    uint64_t waiting_from_ = 0; // where that lies which is written, and the disk has not begun with
    uint64_t waiting_to_ = UINT64_MAX; // nothing yet
    uint64_t waiting_ = 0;             // bytes
};

} // namespace cd
