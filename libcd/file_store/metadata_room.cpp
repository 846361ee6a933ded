// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Where the generations of a store's metadata lie, and the room that is kept for those to come.
#include "base/no_throw.h"
#include "file_store/change_encoder.h"
#include "file_store/metadata.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace cd {
namespace {

// A generation: in its journal there is room for all that the state has to be given to somebody
// else, as by a restore.
uint64_t with_journal(uint64_t snapshot, uint64_t least) {
    return snapshot + std::max(snapshot, least);
}

// Places become longer in few steps, since those that are outgrown leave room that no later one
// fits in; docs/inside/format-store.md bounds the size with it.
uint64_t with_reserve(uint64_t length) {
    constexpr uint64_t short_enough = 2 * format::smallest_journal;
    if (length <= short_enough) {
        return length;
    }
    const uint64_t step = std::bit_floor(length) / 2;
    return (length + step - 1) / step * step;
}

size_t entries_of(const State &state) {
    size_t entries = 0;
    for (const auto &[number, cd] : state.cds) {
        entries += cd.entries.size();
    }
    return entries;
}

} // namespace

Status Metadata::no_spare() const {
    return fail(CD_ERROR_STORE_FULL, "%s: there is no room for the next metadata in the file",
                volume_.file().path());
}

// Two of the longest records since the metadata moved the time before last; none is longer than the
// snapshot that happens again and again.
uint64_t Metadata::two_records(uint64_t snapshot) const {
    return 2 * format::whole_blocks(std::min(snapshot, std::max(longest_, longest_before_)));
}

// Of the snapshot that follows, if the state grows by so much more.
uint64_t Metadata::snapshot_behind(uint64_t grown) const {
    return format::whole_blocks(newest_->header.snapshot_length + grown_ + grown);
}

bool Metadata::has_room_behind(uint64_t grown) const {
    const uint64_t least = with_journal(snapshot_behind(grown), shortest_journal);
    return spares_.size() >= spares_wanted() &&
           std::ranges::all_of(spares_, [&](const Extent &spare) { return spare.length >= least; });
}

// Those that are outgrown are replaced; the file grows if it has no room for them otherwise.
Status Metadata::keep_spares(uint64_t grown, LongerFile longer_file) {
    std::ranges::sort(spares_, std::ranges::greater(), &Extent::length);
    for (; spares_.size() > spares_wanted(); spares_.pop_back()) {
        volume_.release(spares_.back());
    }
    spares_.reserve(most_spares);
    Status status;
    for (size_t i = 0; i < spares_wanted() && status.is_ok(); ++i) {
        Extent spare = i < spares_.size() ? spares_[i] : Extent();
        status = make_long_enough(spare, grown, longer_file);
        if (i < spares_.size()) {
            spares_[i] = spare;
        } else if (spare.length > 0) {
            spares_.push_back(spare);
        }
    }
    return status;
}

// spare: empty, or too short perhaps.
Status Metadata::make_long_enough(Extent &spare, uint64_t grown, LongerFile longer_file) {
    const uint64_t snapshot = snapshot_behind(grown);
    const uint64_t records = two_records(newest_->header.snapshot_length);
    const uint64_t usual =
        copies_wanted() * with_journal(snapshot, std::max(format::smallest_journal, records));
    const std::array<uint64_t, 3> lengths = {with_reserve(usual), usual,
                                             with_journal(snapshot, shortest_journal)};
    if (spare.length >= usual) {
        return Status::ok();
    }
    // What is shorter than records that are long would have the metadata move with each.
    const bool longest_only = longer_file == LongerFile::allowed &&
                              records > std::max(snapshot, format::smallest_journal);
    Extent longer;
    Status status;
    if (!std::ranges::any_of(std::span(lengths).first(longest_only ? 2 : 3), [&](uint64_t length) {
            return spare.length >= length || volume_.reserve_inside(length, longer);
        })) {
        status =
            longer_file == LongerFile::allowed ? lengthen_file(lengths, spare, longer) : no_spare();
    }
    if (longer.length > 0) {
        volume_.release(std::exchange(spare, longer));
    }
    return status;
}

// For the first of the lengths that there is room for, unless the spare has that much.
Status Metadata::lengthen_file(std::span<const uint64_t> lengths, const Extent &spare,
                               Extent &longer) {
    Status status;
    for (const uint64_t length : lengths) {
        if (spare.length >= length) {
            return Status::ok();
        }
        status = volume_.reserve(length, longer);
        if (status.code() != CD_ERROR_STORE_FULL) {
            break;
        }
    }
    return status;
}

void Metadata::cut_off(Extent &spare, uint64_t most) {
    if (spare.length > most) {
        volume_.release({spare.offset + most, spare.length - most});
        spare.length = most;
    }
}

// That is all of it, and takes as long as the metadata are large.
uint64_t Metadata::grown_to(const State &state) const {
    ChangeWriter snapshot;
    write_snapshot(state, snapshot);
    const uint64_t size = snapshot.bytes().size();
    return size - std::min(size, newest_->header.snapshot_length);
}

// An older point in time has what the root has; the one that goes for it may have had as much.
uint64_t Metadata::bytes_of(const Growth &growth) const {
    uint64_t entries = growth.entries;
    if (growth.retained && *growth.retained > 0) {
        const size_t going = retained_.size() < *growth.retained ? 0 : retained_.front();
        entries += all_entries_ - std::min(all_entries_, going);
    }
    return entry_size * entries + growth.bytes;
}

void Metadata::count(const Growth &growth, bool counted) {
    grown_ += counted ? 0 : bytes_of(growth);
    if (growth.retained) {
        retained_.push_back(all_entries_);
        while (retained_.size() > *growth.retained) {
            retained_.pop_front();
        }
    }
    all_entries_ += growth.entries;
}

void Metadata::count(const State &state) {
    grown_ = state.grown;
    entries_ = entries_of(state);
    all_entries_ = entries_;
    retained_.clear();
    for (const StoredVersion &version : state.versions) {
        retained_.push_back(version.entries.size());
    }
}

// The state becomes no larger than the next generation has room for: else there would be no way
// back from it where the disk is full. What was counted is more than there is; that is looked at
// before anything is refused.
Status Metadata::keep_room_for(std::span<const std::byte> changes, const Growth &growth,
                               bool &counted) {
    const uint64_t most = bytes_of(growth) + entry_size * growth.possible;
    if (!growth.is_any() || has_room_behind(most)) {
        return Status::ok();
    }
    Status status = keep_spares(most, LongerFile::allowed);
    if (status.code() != CD_ERROR_STORE_FULL) {
        return status;
    }
    State state;
    if (Status loaded = load_with(changes, state); !loaded) {
        return loaded;
    }
    const uint64_t before = std::exchange(grown_, grown_to(state));
    status = has_room_behind(0) ? Status::ok() : keep_spares(0, LongerFile::allowed);
    counted = status.is_ok();
    if (!counted) {
        grown_ = before;
    }
    return status;
}

// With the reserve: what others got of it would leave the next one less.
bool Metadata::use_spare(Superblock &header, uint64_t snapshot, uint64_t least, uint64_t wanted,
                         uint64_t copies) {
    const auto at = std::ranges::find_if(
        spares_, [&](const Extent &spare) { return spare.length >= copies * (snapshot + least); });
    if (at == spares_.end()) {
        return false;
    }
    cut_off(*at, with_reserve(copies * (snapshot + wanted)));
    const uint64_t one = at->length / copies / format::block * format::block;
    cut_off(*at, copies * one);
    header.snapshot = {at->offset, snapshot};
    header.journal = {header.snapshot.end(), one - snapshot};
    header.copy_distance = copies > 1 ? one : 0;
    spares_.erase(at);
    return true;
}

// What it gets is given back by whoever has the header. What there is no room for twice is there
// once.
Status Metadata::reserve_generation(Superblock &header, uint64_t snapshot, JournalLength journal) {
    spares_.reserve(most_spares);
    Status status = reserve_place(header, snapshot, journal, copies_wanted());
    if (status.code() == CD_ERROR_STORE_FULL && twice_) {
        status = reserve_place(header, snapshot, journal, 1);
    }
    if (status.code() == CD_ERROR_STORE_FULL) {
        status = reserve_apart(header, snapshot, journal.wanted);
    }
    return status.code() == CD_ERROR_STORE_FULL &&
                   use_spare(header, snapshot, journal.least, journal.wanted, 1)
               ? Status::ok()
               : status;
}

Status Metadata::reserve_place(Superblock &header, uint64_t snapshot, JournalLength journal,
                               uint64_t copies) {
    if (use_spare(header, snapshot, journal.wanted / 2, journal.wanted, copies)) {
        return Status::ok();
    }
    Extent place;
    Status status = volume_.reserve(with_reserve(copies * (snapshot + journal.wanted)), place);
    if (status.is_ok()) {
        spares_.push_back(place);
        (void)use_spare(header, snapshot, journal.wanted, journal.wanted, copies);
    }
    return status;
}

Status Metadata::reserve_apart(Superblock &header, uint64_t snapshot, uint64_t journal) {
    Status status = volume_.reserve(snapshot, header.snapshot);
    if (status.is_ok()) {
        status = volume_.reserve(journal, header.journal);
    }
    if (!status) {
        volume_.release(std::exchange(header.snapshot, {}));
    }
    return status;
}

// No header names the generation any more: the one behind the next has its place, if nobody holds
// it, so that they go on in the same places.
void Metadata::take_place_of(const std::shared_ptr<HeldGeneration> &oldest) {
    if (oldest == nullptr || oldest.use_count() > 1) {
        return;
    }
    Superblock &header = oldest->header;
    const uint64_t one = header.snapshot.length + header.journal.length;
    if (header.snapshot.end() == header.journal.offset &&
        (header.copy_distance == 0 || header.copy_distance == one)) {
        spares_.push_back({header.snapshot.offset, header.distances().size() * one});
        header.snapshot = header.journal = {};
    }
}

} // namespace cd
