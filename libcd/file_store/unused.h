// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

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

} // namespace cd
