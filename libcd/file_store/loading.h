// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/state.h"
#include "file_store/superblock.h"

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

} // namespace cd
