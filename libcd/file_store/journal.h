// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/allocator.h"
#include "file_store/load.h"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace cd {

// A snapshot and its journal, which keep their places in the file as long as somebody holds them.
class HeldGeneration {
public:
    // Takes over the extents that the header names.
    HeldGeneration(Volume &volume, Superblock known) : header(std::move(known)), volume_(volume) {}
    HeldGeneration(const HeldGeneration &) = delete;
    HeldGeneration &operator=(const HeldGeneration &) = delete;
    ~HeldGeneration();

    Superblock header;

private:
    Volume &volume_;
};

// The metadata at a moment. Must end before the volume.
struct HeldMetadata {
    std::shared_ptr<const HeldGeneration> generation;
    uint64_t records = 0;
};

// The metadata of a store file: a snapshot, a journal of the changes since, and the header that
// names the two. Used by one thread at a time.
//
// When the journal is full, a new snapshot and an empty journal are written elsewhere, and the
// other header is made to name them. The generation before stays until that happens again: it is
// read if the new one is damaged.
class Journal {
public:
    // forced: what is written reaches the disk before it counts.
    Journal(Volume &volume, bool forced) : volume_(volume), forced_(forced) {}

    // Writes `changes` as the first snapshot of a new file. May throw std::bad_alloc.
    Status create(const Superblock &identity, std::span<const std::byte> changes);

    // Continues in a file that was loaded.
    void take_over(const Loaded &loaded);

    // Appends a record; after a failure or a crash all of its changes count, or none. The data that
    // it refers to must be on the disk already. Requires is_settled(). May throw std::bad_alloc;
    // then nothing has changed.
    Status append(std::span<const std::byte> changes);

    // Starts a new generation. Takes time in proportion to the metadata.
    Status rebase() { return move(0); }

    // False if the record or the header of a failed call may come back after a crash, with the data
    // that it refers to. settle() takes them back.
    bool is_settled() const { return unsettled_ == 0 && abandoned_ == nullptr; }
    Status settle();

    // load_again() can read the result as long as it is held, whatever is appended meanwhile.
    HeldMetadata hold() const { return {newest_, records_}; }

private:
    Status move(uint64_t room);
    // next: has identity and number, and gets its extents. journal: wanted length; least: if the
    // disk is nearly full.
    Status write_generation(HeldGeneration &next, std::span<const std::byte> snapshot,
                            uint64_t journal, uint64_t least);
    Status reserve_generation(Superblock &header, uint64_t snapshot, uint64_t journal,
                              uint64_t least);
    void take_place_of(const std::shared_ptr<HeldGeneration> &oldest);
    Status flip_to(const std::shared_ptr<HeldGeneration> &next);
    void begin_writing(); // marks what force() covers
    Status force();

    Volume &volume_;
    bool forced_;
    GroupSync::Mark begun_ = 0;
    std::shared_ptr<HeldGeneration> newest_; // none before create() or take_over()
    std::shared_ptr<HeldGeneration> older_;  // if there is one
    Extent place_;                           // that a generation had; the next one may take it
    uint64_t records_ = 0;
    uint64_t used_ = 0;    // of the journal
    uint64_t longest_ = 0; // record of this generation, and of the one before
    uint64_t longest_before_ = 0;
    uint64_t unsettled_ = 0;                    // bytes behind used_ that may have reached the disk
    std::shared_ptr<HeldGeneration> abandoned_; // a header that failed may name it
    bool doubtful_ = false; // a header, or what follows the records, is damaged or incomplete
    // Points in time that the file has and this process has given up, and their data.
    size_t newer_ = 0;
    std::vector<Extent> given_up_;
};

} // namespace cd
