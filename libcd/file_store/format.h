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

// Metadata are read and written in blocks.
constexpr size_t block = 4096;
constexpr size_t sector = 512;      // what a disk writes as a whole
constexpr size_t small_extent = 64; // extents smaller than a block are multiples of it

constexpr uint64_t whole_blocks(uint64_t length) { return (length + block - 1) / block * block; }

// Two headers, of which the one with the greater generation counts. They are alike in a new store,
// and with keep=2 and more.
constexpr size_t headers = 2;
constexpr uint64_t first_extent = headers * block;

// A header fits into one sector with its checksum, so that no write of it can be torn; the rest of
// its block is 0.
constexpr size_t header_checksum = sector - 4;
constexpr size_t header_features = header_checksum - 4;
constexpr uint32_t names_all_objects = 1; // the only one so far
constexpr size_t header_checksum_of_version_1 = block - 4;

constexpr size_t id_size = 16;
constexpr size_t longest_name = 200;

// The part of a record before its changes.
constexpr uint32_t record_magic = 0x43454443; // "CDEC"
constexpr size_t record_header = 40;
constexpr size_t record_header_checked = 32;
// The part behind them: a record that was not written to its end has an old word there.
constexpr size_t record_end = 8;

// The word of unused journal at an offset of the file is the xor of the two halves of the id, plus
// so many times the generation and the offset.
constexpr uint64_t unused_generation_step = 0x9e3779b97f4a7c15;
constexpr uint64_t unused_offset_step = 0xc2b2ae3d27d4eb4f;

// A run has a checksum for each part of this size.
constexpr size_t checked_part = size_t{64} << 10;

constexpr uint64_t smallest_journal = 64 * block;

// No count comes so far: counting on from any number that was read cannot overflow.
constexpr uint64_t greatest_number = INT64_MAX;

// The most that keep= takes. A few bytes of a record make a point in time as large as the root.
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

// Labels of an entry beside its types. Stores of older versions of this library have more: a
// restoration type that means COPY, and entries that a restore of their CD's parent has ended.
constexpr uint8_t label_recent = 1U << 4U;
constexpr uint8_t label_added_anew = 1U << 5U;
constexpr uint8_t label_left = 1U << 6U;
constexpr uint8_t compared_copy = 3;

enum class NameKind : uint8_t {
    path = 0,    // a CD in its family; bytes are known by add order
    object = 1,  // a shared library; bytes are known by their offset
    region = 2,  // a region that the program named; bytes are known by their offset
    program = 3, // the program that ran; bytes are known by their offset
};

} // namespace cd::format
