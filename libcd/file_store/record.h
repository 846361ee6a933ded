// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/codec.h"
#include "file_store/superblock.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace cd {

// What fills a journal where no record was written yet: each word of 8 bytes is another one, in
// each generation of each file. A word that is still there was never written over; zeros, or what
// was somewhere else, are damage.
class Unused {
public:
    explicit Unused(const Superblock &header);

    // In bytes, which are the file's from an offset on; both are multiples of 8.
    void fill(uint64_t offset, std::span<std::byte> bytes) const;
    bool is_all_of(uint64_t offset, std::span<const std::byte> bytes) const;
    bool is_some_of(uint64_t offset, std::span<const std::byte> bytes) const;

    // Does not force it to the disk.
    Status write(const File &file, uint64_t offset, uint64_t length) const;

private:
    uint64_t word_at(uint64_t offset) const;

    uint64_t first_;
};

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
