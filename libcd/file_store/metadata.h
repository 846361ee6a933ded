// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/bytes.h"
#include "file_store/loading.h"
#include "file_store/volume.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cd {

// The part of a store file that says what the rest of it means: a snapshot, a journal of what was
// done since, and the header that names the two. One thread at a time.
//
// When the journal is full, a new snapshot and an empty journal are written elsewhere, and the
// other header is made to name them. The old ones stay until that has happened again: if the new
// ones are damaged, they are what is left.
class Metadata {
public:
    // forced: what is written reaches the disk before it counts.
    Metadata(Volume &volume, bool forced) : volume_(volume), forced_(forced) {}

    // For a new file: writes changes as its first snapshot. May throw std::bad_alloc.
    Status create(const Header &identity, std::span<const std::byte> changes);

    // For a file that was loaded.
    void take_over(const Loaded &loaded);

    // Makes the changes part of what the file says; all or nothing, whatever happens meanwhile.
    // What they refer to has to be on the disk already. May throw std::bad_alloc; then nothing has
    // changed.
    Status append(std::span<const std::byte> changes);

    // Makes state what the file says. May throw std::bad_alloc.
    Status rewrite(const State &state);

    // To be called before data are written over: afterwards no record of a failed append() can
    // come back that refers to what was there.
    Status settle();

private:
    Status move(uint64_t room);
    Status move_to(const State &state, uint64_t room);
    Status write_generation(Header &header, std::span<const std::byte> snapshot, uint64_t journal);
    Status force();

    Volume &volume_;
    bool forced_;
    Header header_;
    Header older_; // generation 0: there is none
    uint64_t records_ = 0;
    uint64_t used_ = 0;             // of the journal
    uint64_t unsettled_ = 0;        // bytes behind used_ that may have reached the disk
    bool must_move_ = false;        // what is in the file behind used_ is not to be trusted
    std::vector<Extent> abandoned_; // of moves that failed, but may have reached the disk
};

} // namespace cd
