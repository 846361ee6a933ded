// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/file.h"
#include "file_store/state.h"
#include "file_store/superblock.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cd {

// The contents of a store file.
struct Loaded {
    Superblock header; // the newest valid one
    uint64_t records = 0;
    uint64_t journal_used = 0;
    bool has_leftover = false; // an incomplete record follows
    State state;
    Superblock older; // generation 0: there is none
    // Why the file may have had a newer state; "" if it had none. With a doubt, all data of the
    // newest point in time were read and are whole.
    std::string doubt;
    size_t newer = 0;             // points in time that the file has and `state` has given up
    std::vector<Extent> given_up; // their data
    std::vector<Extent> extents;  // everything that the file refers to, by offset
};

// Reads the newest whole state, and changes nothing in the file. May throw std::bad_alloc.
Status load(const File &file, Loaded &loaded);

// Reads the snapshot that `header` names and `records` records. May throw std::bad_alloc.
Status load_again(const File &file, const Superblock &header, uint64_t records, State &state);

// Makes the root's newest older point in time the newest, and drops all other CDs. There must be an
// older one. given_up: gets the extents that only the file refers to now. May throw std::bad_alloc.
void go_back(State &state, std::vector<Extent> &given_up);
void go_back(Loaded &loaded);

// How data without checksums count: newer operations may have written over them.
enum class Unchecked { counts_as_whole, counts_as_damaged };

// Reads all data of the newest point in time. May throw std::bad_alloc.
Status check_newest(const File &file, const State &state, Unchecked unchecked);

// Returns the epochs of the root in `state`, oldest first, with a space before each.
std::string known_epochs(const State &state);

// Reads all data of the newest point in time, and goes back until they match their checksums; adds
// the damage to the doubt. Fails with the damage of the newest one if none is whole, and with
// CD_ERROR_STORE_IO if a later try may succeed. May throw std::bad_alloc.
Status take_newest_whole(const File &file, Loaded &loaded, Unchecked unchecked);

} // namespace cd
