// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/codec.h"
#include "file_store/superblock.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace cd {

// The records of a journal: one for each operation, one behind the other, each from the start of a
// block on, so that writing one never touches the ones before.

// How much of the journal a record with so many bytes of changes takes.
uint64_t record_size(size_t changes);

// A complete record; what is behind its changes is 0.
ByteWriter encode_record(const Superblock &header, uint64_t sequence,
                         std::span<const std::byte> changes);

// What is in the journal behind what is used of it.
struct FoundRecord {
    // torn: whoever wrote it did not come to its end, so that it never counted.
    enum class Kind { end, whole, torn, damaged };
    Kind kind = Kind::damaged;
    std::span<const std::byte> changes;
    uint64_t size = 0; // in the journal
};
FoundRecord find_record(const Superblock &header, uint64_t sequence,
                        std::span<const std::byte> journal, uint64_t used);

} // namespace cd
