// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/file.h"
#include "file_store/format.h"

#include <absl/container/inlined_vector.h>

#include <array>
#include <cstdint>
#include <string>

namespace cd {

// Where something is in a store file.
struct Extent {
    uint64_t offset = 0;
    uint64_t length = 0;
    uint64_t end() const { return offset + length; }
};

// The first thing read of a store file, and the last thing written when its metadata move.
struct Superblock {
    std::array<std::byte, format::id_size> id = {}; // random, of this file
    size_t slot = 0;                                // which of the two it is
    uint64_t generation = 0;
    int rank = 0;
    std::string name; // of the root CD
    Extent snapshot;
    uint64_t snapshot_length = 0; // what is used of the extent
    uint32_t snapshot_checksum = 0;
    Extent journal;
    bool names_all_objects = false; // also those without build-id, from the store's begin on
    // How far behind snapshot and journal a second copy of both is; 0: there is none.
    uint64_t copy_distance = 0;

    // Of each copy of what it names.
    absl::InlinedVector<uint64_t, 2> distances() const;
    // Where all that is.
    absl::InlinedVector<Extent, 4> places() const;

    size_t other_slot() const { return format::headers - 1 - slot; }
};

// What was found where a header belongs.
struct FoundHeader {
    enum class Kind { none, whole, damaged, other_version };
    Kind kind = Kind::none;
    Superblock header;
    uint32_t version = 0;
};

Status read_header(const File &file, size_t slot, FoundHeader &found);

// Does not force it to the disk.
Status write_header(const File &file, const Superblock &header);

} // namespace cd
