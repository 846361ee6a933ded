// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/file.h"
#include "file_store/record.h"
#include "file_store/state.h"
#include "file_store/superblock.h"
#include "memory/large_allocator.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cd {

// What was found in a store file.
struct Loaded {
    Superblock header; // the one that counts
    uint64_t records = 0;
    uint64_t journal_used = 0;
    bool has_leftover = false; // behind that is what was never a whole record
    State state;
    Superblock older; // generation 0: there is none
    // Why this may not be the newest state that was ever stored; "" if it is. Its newest point in
    // time was then found to be whole with all its data.
    std::string doubt;
    std::string flaw;             // what is damaged, and has a copy that is whole; "" if nothing is
    size_t newer = 0;             // points in time that the file has, and state has not any more
    std::vector<Extent> given_up; // their data
    std::vector<Extent> extents;  // all that the file refers to, by offset
};

// What to say of a flaw.
constexpr char has_a_copy[] = "; there is a copy of it, so that nothing is lost";

// Reads the newest state that is whole. Changes nothing in the file. May throw std::bad_alloc.
Status load(const File &file, Loaded &loaded);

// Reads what load() took, and no further. May throw std::bad_alloc.
Status load_again(const File &file, const Superblock &header, uint64_t records, State &state);

// Makes the newest of the root's older points in time the newest; the CDs that are not in it are
// gone. There has to be one. given_up: gets where the data are that nothing refers to any more,
// but the file still does. May throw std::bad_alloc.
void go_back(State &state, std::vector<Extent> &given_up);
void go_back(Loaded &loaded);

// What to think of data that have no checksums: they are as they were, or newer operations may have
// written over them.
enum class Unchecked { counts_as_whole, counts_as_damaged };

// Reads all data of the newest point in time. May throw std::bad_alloc.
Status check_newest(const File &file, const State &state, Unchecked unchecked);

// The epochs of the root that state has, oldest first, with a space before each.
std::string known_epochs(const State &state);

// Reads all data of the newest point in time, and goes back to an older one until they match their
// checksums; what was wrong is added to the doubt. Fails with what was wrong with the newest if
// none is whole, and when the system could not read for a reason that will pass. May throw
// std::bad_alloc.
Status take_newest_whole(const File &file, Loaded &loaded, Unchecked unchecked);

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
