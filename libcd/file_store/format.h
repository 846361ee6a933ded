// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cd::format {

// The constants of a store file; docs/inside/format-store.md is the description. All integers are
// little-endian.

constexpr std::array<unsigned char, 8> magic = {'C', 'D', 'S', 'T', 'O', 'R', 'E', 0x1a};
constexpr uint32_t version = 7; // the only one that is read

// What is read and written as a whole.
constexpr size_t block = 4096;
constexpr size_t sector = 512;      // what a disk writes as a whole
constexpr size_t small_extent = 64; // what extents smaller than a block are rounded up to

constexpr uint64_t whole_blocks(uint64_t length) { return (length + block - 1) / block * block; }

// Two headers, of which the one with the greater generation counts; they are alike in a new store,
// and where more than one point in time is kept.
constexpr size_t headers = 2;
constexpr uint64_t first_extent = headers * block;

// A header is in one sector with its checksum, so that no write of it can be torn; the rest of its
// block is 0.
constexpr size_t header_checksum = sector - 4;
constexpr size_t header_features = header_checksum - 4;
constexpr uint32_t names_all_objects = 1; // the only one so far
constexpr size_t header_checksum_of_version_1 = block - 4;

constexpr size_t id_size = 16;
constexpr size_t longest_name = 200;

// Before the changes in a record of the journal.
constexpr uint32_t record_magic = 0x43454443; // "CDEC"
constexpr size_t record_header = 40;
constexpr size_t record_header_checked = 32;
// Behind them, so that of a record that was not written to its end a word is as it was before.
constexpr size_t record_end = 8;

// The word of unused journal at an offset of the file: the two halves of the id, one xor the other,
// and so many times the generation and the offset.
constexpr uint64_t unused_generation_step = 0x9e3779b97f4a7c15;
constexpr uint64_t unused_offset_step = 0xc2b2ae3d27d4eb4f;

// Data have a checksum for each part of this size, counted from the start of what was written at
// once.
constexpr size_t checked_part = size_t{64} << 10;

constexpr uint64_t smallest_journal = 64 * block;

// Nothing that is counted comes so far, so that one can go on counting from whatever is read.
constexpr uint64_t greatest_number = INT64_MAX;

// That a root has, which is as many as keep= takes: each is as large as the root, and a few bytes
// of a record make one.
constexpr size_t most_points_in_time = 1000;

// Kinds of changes; docs/inside/format-store.md says what follows each.
enum class Change : uint8_t {
    space = 1,
    name = 2,
    cd = 3,
    run = 4,
    hold = 5,
    data = 6,
    relabel = 7,
    promote = 8,
    demote = 9,
    erase = 10,
    give = 11,
    epoch = 13,
    retain = 14,
    drop = 15,
    bind = 16,
    clear = 17,
    positions = 18,
    leave = 19,
};

// In the place of a restoration type: COPY, and what a descendant had is known.
constexpr uint8_t compared_copy = 3;

enum class NameKind : uint8_t {
    path = 0,    // of a CD in its family; a byte is known by when it was added there
    object = 1,  // program or shared library; a byte is known by its offset
    region = 2,  // what the program named; a byte is known by its offset
    program = 3, // as object, and it was the program that ran
};

} // namespace cd::format
