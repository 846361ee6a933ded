// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/codec.h"
#include "file_store/superblock.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace cd {

// The bytes of a journal where no record was written yet. Each 8-byte word differs by its place, by
// generation and by file: a word that is still there was never written over, all others are damage.
class Unused {
public:
    explicit Unused(const Superblock &header);

    // `bytes` lie at `offset` of the file; offset and length are multiples of 8.
    void fill(uint64_t offset, std::span<std::byte> bytes) const;
    // True if all words, or some, were never written over.
    bool is_all_of(uint64_t offset, std::span<const std::byte> bytes) const {
        return find(offset, bytes, false) == bytes.size();
    }
    bool is_some_of(uint64_t offset, std::span<const std::byte> bytes) const {
        return find(offset, bytes, true) < bytes.size();
    }

    // Writes without forcing to the disk.
    Status write(const File &file, uint64_t offset, uint64_t length) const;

private:
    uint64_t word_at(uint64_t offset) const;
    // Returns the place of the first word that was never written over, or of the first other one.
    size_t find(uint64_t offset, std::span<const std::byte> bytes, bool unused) const;

    uint64_t first_;
};

// A journal has one record for each operation. Each begins at a block, so that writing one never
// touches the ones before.

// Returns the size in the journal of a record with so many bytes of changes.
uint64_t record_size(size_t changes);

// Returns a complete record, padded with zeros.
ByteWriter encode_record(const Superblock &header, uint64_t sequence,
                         std::span<const std::byte> changes);

// The record, if there is one, behind the used part of a journal.
struct FoundRecord {
    // torn: it was not written to its end and never counted.
    enum class Kind { end, whole, torn, damaged };
    Kind kind = Kind::damaged;
    std::span<const std::byte> changes;
    uint64_t size = 0; // in the journal
};
FoundRecord find_record(const Superblock &header, uint64_t sequence,
                        std::span<const std::byte> journal, uint64_t used);

} // namespace cd
