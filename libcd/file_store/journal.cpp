// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/journal.h"

#include "base/no_throw.h"
#include "file_store/change_encoder.h"
#include "file_store/load.h"
#include "file_store/record.h"
#include "memory/crc32c.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace cd {
namespace {

// Returns the header of the next generation, without extents.
Superblock next_generation(const Superblock &header) {
    Superblock next;
    next.id = header.id;
    next.rank = header.rank;
    next.name = header.name;
    next.names_all_objects = header.names_all_objects;
    next.generation = header.generation + 1;
    return next;
}

constexpr uint64_t shortest_journal = format::smallest_journal / 4; // if the disk is nearly full

// Rounds up in few steps: an outgrown place leaves room in which no later one fits.
// docs/inside/format-store.md bounds the size of the file with it.
uint64_t with_reserve(uint64_t length) {
    constexpr uint64_t short_enough = 2 * format::smallest_journal;
    if (length <= short_enough) {
        return length;
    }
    const uint64_t step = std::bit_floor(length) / 2;
    return (length + step - 1) / step * step;
}

} // namespace

HeldGeneration::~HeldGeneration() {
    for (const Extent &extent : header.places()) {
        if (extent.length > 0) {
            volume_.release(extent);
        }
    }
}

void Journal::begin_writing() { begun_ = volume_.forcing().mark(); }

Status Journal::force() { return forced_ ? volume_.forcing().force(begun_) : Status::ok(); }

// Writes both headers: if one is damaged before there is a second generation, the other one still
// names everything. The caller forces them to the disk before the file gets its name.
Status Journal::create(const Superblock &identity, std::span<const std::byte> changes) {
    begin_writing();
    auto first = std::make_shared<HeldGeneration>(volume_, next_generation(identity));
    Status status =
        write_generation(*first, changes, format::smallest_journal, format::smallest_journal);
    for (size_t slot = 0; status.is_ok() && slot < format::headers; ++slot) {
        first->header.slot = slot;
        status = write_header(volume_.file(), first->header);
    }
    if (status.is_ok()) {
        newest_ = std::move(first);
    }
    return status;
}

void Journal::take_over(const Loaded &loaded) {
    newest_ = std::make_shared<HeldGeneration>(volume_, loaded.header);
    if (loaded.older.generation != 0) {
        older_ = std::make_shared<HeldGeneration>(volume_, loaded.older);
    }
    records_ = loaded.records;
    used_ = loaded.journal_used;
    newer_ = loaded.newer;
    given_up_ = loaded.given_up;
    doubtful_ = !loaded.doubt.empty() || loaded.has_leftover;
}

Status Journal::append(std::span<const std::byte> changes) {
    const uint64_t size = record_size(changes.size());
    if (doubtful_ || newer_ > 0 || used_ + size > newest_->header.journal.length) {
        if (Status status = move(size); !status) {
            return status;
        }
    }
    begin_writing();
    const Superblock &header = newest_->header;
    const ByteWriter record = encode_record(header, records_, changes);
    unsettled_ = size;
    Status status =
        volume_.file().write(header.journal.offset + used_, record.bytes().data(), record.size());
    if (status.is_ok()) {
        status = force();
    }
    if (!status) {
        const SavedMessage keeper;
        (void)settle().is_ok(); // else the next append has to
        return status;
    }
    unsettled_ = 0;
    used_ += size;
    ++records_;
    longest_ = std::max(longest_, size);
    return Status::ok();
}

Status Journal::settle() {
    if (is_settled()) {
        return Status::ok();
    }
    begin_writing();
    const Superblock &header = newest_->header;
    Status status;
    if (unsettled_ > 0) {
        status = Unused(header).write(volume_.file(), header.journal.offset + used_, unsettled_);
    }
    if (status.is_ok() && abandoned_ != nullptr) {
        Superblock before = older_ != nullptr ? older_->header : header;
        before.slot = header.other_slot();
        status = write_header(volume_.file(), before);
    }
    if (status.is_ok()) {
        status = force();
    }
    if (status.is_ok()) {
        unsettled_ = 0;
        abandoned_.reset();
    }
    return status;
}

Status Journal::move(uint64_t room) {
    State state;
    if (Status status = load_again(volume_.file(), newest_->header, records_, state); !status) {
        return status;
    }
    for (size_t i = 0; i < newer_; ++i) {
        std::vector<Extent> given_up; // known already
        go_back(state, given_up);
    }
    begin_writing();
    ChangeWriter snapshot;
    write_snapshot(state, snapshot);
    auto next = std::make_shared<HeldGeneration>(volume_, next_generation(newest_->header));
    next->header.slot = newest_->header.other_slot();
    // Two of the longest records: else each of them would move the metadata.
    const uint64_t size = snapshot.bytes().size();
    const uint64_t records = std::min(size, std::max(longest_, longest_before_));
    const uint64_t journal = format::whole_blocks(std::max<uint64_t>(
        {format::smallest_journal, size, 2 * room, 2 * format::whole_blocks(records)}));
    const uint64_t least = format::whole_blocks(std::max(shortest_journal, room));
    if (Status status = write_generation(*next, snapshot.bytes().bytes(), journal, least);
        !status) {
        return status;
    }
    if (Status status = flip_to(next); !status) {
        return status;
    }
    take_place_of(older_);
    older_ = std::move(newest_);
    newest_ = std::move(next);
    records_ = 0;
    used_ = 0;
    longest_before_ = std::exchange(longest_, room);
    doubtful_ = false;
    newer_ = 0;
    for (const Extent &extent : std::exchange(given_up_, {})) {
        volume_.release(extent);
    }
    return Status::ok();
}

// After a failure next gives back what was reserved.
Status Journal::write_generation(HeldGeneration &next, std::span<const std::byte> snapshot,
                                 uint64_t journal, uint64_t least) {
    Superblock &header = next.header;
    header.snapshot_length = snapshot.size();
    header.snapshot_checksum = crc32c(0, snapshot.data(), snapshot.size());
    const uint64_t room = format::whole_blocks(std::max<size_t>(snapshot.size(), 1));
    Status status = reserve_generation(header, room, journal, least);
    if (status.is_ok()) {
        status = volume_.file().write(header.snapshot.offset, snapshot.data(), snapshot.size());
    }
    if (status.is_ok()) {
        status = Unused(header).write(volume_.file(), header.journal.offset, header.journal.length);
    }
    if (status.is_ok()) {
        status = force();
    }
    return status;
}

// Uses the place of an earlier generation if it is long enough, all of it: generations take turns
// in the same places, and small data do not take what is left. The extents belong to whoever has
// the header.
Status Journal::reserve_generation(Superblock &header, uint64_t snapshot, uint64_t journal,
                                   uint64_t least) {
    Extent place = std::exchange(place_, {});
    const uint64_t most = with_reserve(snapshot + journal);
    if (place.length < snapshot + journal / 2) {
        volume_.release(std::exchange(place, {}));
        Status status = volume_.reserve(most, place);
        if (status.code() == CD_ERROR_STORE_FULL && least < journal) {
            status = volume_.reserve(with_reserve(snapshot + least), place);
        }
        if (!status) {
            return status;
        }
    }
    const uint64_t used = std::min(place.length, most) / format::block * format::block;
    volume_.release({place.offset + used, place.length - used});
    header.snapshot = {place.offset, snapshot};
    header.journal = {header.snapshot.end(), used - snapshot};
    return Status::ok();
}

// Keeps the place of a generation that no header names any more, unless somebody holds it.
void Journal::take_place_of(const std::shared_ptr<HeldGeneration> &oldest) {
    if (oldest == nullptr || oldest.use_count() > 1) {
        return;
    }
    Superblock &header = oldest->header;
    if (header.snapshot.end() == header.journal.offset) {
        const uint64_t length = header.snapshot.length + header.journal.length;
        volume_.release(std::exchange(place_, {header.snapshot.offset, length}));
        header.snapshot = header.journal = {};
    }
}

// Makes the header count. After a failure the one before is back in its place, or it is unknown
// which of them is there.
Status Journal::flip_to(const std::shared_ptr<HeldGeneration> &next) {
    Status status = write_header(volume_.file(), next->header);
    if (status.is_ok()) {
        status = force();
    }
    if (!status) {
        abandoned_ = next;
        const SavedMessage keeper;
        (void)settle().is_ok(); // else the next operation has to
    }
    return status;
}

} // namespace cd
