// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/file.h"
#include "file_store/format.h"

#include <array>
#include <cstdint>
#include <string>

namespace cd {

// A part of a store file.
struct Extent {
    uint64_t offset = 0;
    uint64_t length = 0;
    uint64_t end() const { return offset + length; }
    bool operator==(const Extent &) const = default;
};

// A header: read first, and written last when the metadata move.
struct Superblock {
    std::array<std::byte, format::id_size> id = {}; // random, of this file
    size_t slot = 0;                                // 0 or 1
    uint64_t generation = 0;
    int rank = 0;
    std::string name; // of the root CD
    Extent snapshot;
    uint64_t snapshot_length = 0; // the used part of the extent
    uint32_t snapshot_checksum = 0;
    Extent journal;
    bool names_all_objects = false; // also objects without build-id
    // Distance to a second copy, which earlier versions wrote and this one does not read.
    uint64_t copy_distance = 0;

    std::array<Extent, 2> places() const { return {snapshot, journal}; }

    size_t other_slot() const { return format::headers - 1 - slot; }
};

// The contents of one header's place.
struct FoundHeader {
    enum class Kind { none, whole, damaged, other_version };
    Kind kind = Kind::none;
    Superblock header;
    uint32_t version = 0;
};

Status read_header(const File &file, size_t slot, FoundHeader &found);

// Writes without forcing to the disk.
Status write_header(const File &file, const Superblock &header);

} // namespace cd
