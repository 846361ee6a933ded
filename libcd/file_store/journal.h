// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "file_store/allocator.h"
#include "file_store/codec.h"
#include "file_store/format.h"
#include "file_store/load.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace cd {

// Of a snapshot, at most: an entry and what says where its data are, but for their checksums.
constexpr uint64_t entry_size = 64;

constexpr uint64_t checksums_size(uint64_t length) {
    return (length / format::checked_part + 1) * sizeof(uint32_t);
}

// By how much changes make the state larger.
struct Growth {
    size_t entries = 0;
    uint64_t bytes = 0;                  // of names and checksums beside them
    size_t possible = 0;                 // entries that are not there yet, or were not counted
    std::optional<size_t> retained = {}; // as ChangeWriter::retain(): so many points in time stay

    bool is_any() const { return entries > 0 || bytes > 0 || retained; }
};

// A snapshot and its journal; they stay where they are as long as somebody holds them.
class HeldGeneration {
public:
    // The extents of its header are the generation's from now on.
    HeldGeneration(Volume &volume, Superblock known) : header(std::move(known)), volume_(volume) {}
    HeldGeneration(const HeldGeneration &) = delete;
    HeldGeneration &operator=(const HeldGeneration &) = delete;
    ~HeldGeneration();

    Superblock header;

private:
    Volume &volume_;
};

// What the metadata said at a moment. Lives no longer than the volume.
struct HeldMetadata {
    std::shared_ptr<const HeldGeneration> generation;
    uint64_t records = 0;
};

// The part of a store file that says what the rest of it means: a snapshot, a journal of what was
// done since, and the header that names the two. One thread at a time.
//
// When the journal is full, a new snapshot and an empty journal are written elsewhere, and the
// other header is made to name them. The old ones stay until that has happened again: if the new
// ones are damaged, they are what is left. Or, where older points in time are kept, all is there
// twice, and both headers name the new ones: then no damage in one place loses anything. Room for
// that is kept: where the disk is full, what does not make the state larger, as the end of a CD,
// goes on.
class Metadata {
public:
    // forced: what is written reaches the disk before it counts. twice: all of it, in two places,
    // as long as there is room for that.
    Metadata(Volume &volume, bool forced, bool twice)
        : volume_(volume), forced_(forced), twice_(twice) {}

    // For a new file: writes changes as its first snapshot. May throw std::bad_alloc.
    Status create(const Superblock &identity, std::span<const std::byte> changes);

    // For a file that was loaded.
    void take_over(const Loaded &loaded);

    // Makes the changes part of what the file says; all or nothing, whatever happens meanwhile.
    // What they refer to has to be on the disk already. Where the state becomes larger there has to
    // be room for that. Only when settled. May throw std::bad_alloc; then nothing has changed.
    Status append(std::span<const std::byte> changes, const Growth &growth);

    // The same for changes, or none, that make no difference to whoever opens the file next: they
    // are in it as soon as something else is written, or not. rebase() takes as long as the
    // metadata are large, and so does every later reading of what append() has written of such
    // changes; has_many() says when these are too many. moved: entries that they give another
    // address.
    bool has_many(size_t moved) const;
    Status rebase(std::span<const std::byte> changes);
    void count_moved(size_t moved) { moved_ += moved; }

    // False: the record of an append() that failed may come back after a crash, and with it what it
    // refers to; settle() takes it out of the file.
    bool is_settled() const { return unsettled_ == 0; }
    Status settle();

    // Whether the file says what it said here last, as far as can be read: another process that has
    // it may have gone on.
    bool says_the_same() const;

    // What load_again() can read for as long as it is held, whatever is appended.
    HeldMetadata hold() const { return {newest_, records_}; }

private:
    // Two that are kept, the one that was used last, and one that is reserved and used at once.
    static constexpr size_t most_spares = 4;
    // What a journal is where there is no room for more: enough to go on.
    static constexpr uint64_t shortest_journal = format::smallest_journal / 4;
    struct JournalLength {
        uint64_t wanted;
        uint64_t least;
    };
    bool has_to_move() const;
    size_t spares_wanted() const { return older_ != nullptr || twice_ ? 1 : 2; }
    enum class LongerFile { allowed, refused };
    Status keep_spares(uint64_t grown, LongerFile longer_file);
    Status make_long_enough(Extent &spare, uint64_t grown, LongerFile longer_file);
    Status lengthen_file(std::span<const uint64_t> lengths, const Extent &spare, Extent &longer);
    void cut_off(Extent &spare, uint64_t most);
    Status no_spare() const;
    uint64_t two_records(uint64_t snapshot) const;
    uint64_t snapshot_behind(uint64_t grown) const;
    bool has_room_behind(uint64_t grown) const;
    uint64_t grown_to(const State &state) const;
    uint64_t bytes_of(const Growth &growth) const;
    // counted: the growth already counts.
    Status keep_room_for(std::span<const std::byte> changes, const Growth &growth, bool &counted);
    void count(const State &state);
    void count(const Growth &growth, bool counted);
    Status load_with(std::span<const std::byte> changes, State &state) const;
    Status reserve_generation(Superblock &header, uint64_t snapshot, JournalLength journal);
    uint64_t copies_wanted() const { return twice_ ? 2 : 1; }
    bool use_spare(Superblock &header, uint64_t snapshot, uint64_t least, uint64_t wanted,
                   uint64_t copies);
    Status reserve_place(Superblock &header, uint64_t snapshot, JournalLength journal,
                         uint64_t copies);
    Status reserve_apart(Superblock &header, uint64_t snapshot, uint64_t journal);
    void take_place_of(const std::shared_ptr<HeldGeneration> &oldest);
    Status move(std::span<const std::byte> changes, uint64_t room);
    // next: knows its identity and number, and gets its extents.
    Status write_generation(HeldGeneration &next, std::span<const std::byte> snapshot,
                            JournalLength journal);
    Status flip_to(const std::shared_ptr<HeldGeneration> &next);
    Status take_back_header();
    void write_other_header();
    void begin_writing(); // what force() is for
    Status force();

    Volume &volume_;
    bool forced_;
    bool twice_;
    GroupSync::Mark begun_ = 0;
    std::shared_ptr<HeldGeneration> newest_; // none before create() or take_over()
    std::shared_ptr<HeldGeneration> older_;  // if there is one
    uint64_t records_ = 0;
    uint64_t used_ = 0;      // of the journal
    size_t entries_ = 0;     // in the snapshot
    size_t moved_ = 0;       // by the records
    uint64_t grown_ = 0;     // bytes, at most, that the next snapshot is longer by than this one
    size_t all_entries_ = 0; // at most, of all CDs
    std::deque<size_t> retained_; // the same of the older points in time, oldest first
    uint64_t longest_ = 0;        // record, of this generation and of the one before
    uint64_t longest_before_ = 0;
    uint64_t unsettled_ = 0; // bytes behind used_ that may have reached the disk
    // A header, or what is behind used_, is not as it should be, or of an older version.
    bool doubtful_ = false;
    // Points in time that the file has, and whoever has it open has not, and their data.
    size_t newer_ = 0;
    std::vector<Extent> given_up_;
    // That a header names which could not be taken back.
    std::vector<std::shared_ptr<HeldGeneration>> abandoned_;
    // Room for what comes next: one more generation, and the second one as long as there is none.
    std::vector<Extent> spares_;
};

} // namespace cd
