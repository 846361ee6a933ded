// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/records.h"
#include "file_store/state.h"
#include "file_store/superblock.h"
#include "memory/large_allocator.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cd {

// That a store is not as it was written.
Status damaged(const File &file, uint64_t offset, const char *reason);

// The snapshot and journal that a header names, to be read once. What is there twice is damaged
// only where both copies are. May throw std::bad_alloc.
class Generation {
public:
    // The second copies are read, too, or only of what the first one has not.
    enum class Copies { all, as_needed };
    Generation(const File &file, const Superblock &header, uint64_t file_size, Copies copies)
        : file_(file), header_(header), file_size_(file_size), copies_(copies) {}

    Status read_snapshot(State &state);
    // Up to most records.
    Status read_journal(State &state, uint64_t most);

    uint64_t records() const { return records_; }
    uint64_t used() const { return used_; }
    // What follows the records. A record counts as soon as one copy has it, and is in both when its
    // operation returns: so if one place for the next has never been written to, none is lost.
    FoundRecord::Kind behind() const { return behind_; }
    // The copies of the journal are not alike.
    bool differs() const { return differs_; }
    // What is damaged in one copy; "": nothing.
    const std::string &flaw() const { return flaw_; }

private:
    using Bytes = std::vector<std::byte, LargeAllocator<std::byte>>;
    // One copy: the header as if it named that alone, and its bytes up to a hole.
    struct Journal {
        Superblock header;
        Bytes bytes;
    };

    Status read_snapshot_at(uint64_t offset, Bytes &bytes) const;
    Status find_record_in_copies(std::vector<Journal> &journals, FoundRecord &found);
    FoundRecord next_of(const Journal &journal) const;
    Status read_copy(uint64_t distance, std::vector<Journal> &journals) const;
    Status find_what_is_there(const Extent &extent, uint64_t &length) const;
    Status read_blocks(uint64_t offset, std::span<std::byte> bytes) const;
    void note_flaw(const std::string &flaw);

    const File &file_;
    const Superblock &header_;
    uint64_t file_size_;
    Copies copies_;
    uint64_t records_ = 0;
    uint64_t used_ = 0;
    FoundRecord::Kind behind_ = FoundRecord::Kind::end;
    bool differs_ = false;
    std::string flaw_;
};

} // namespace cd
