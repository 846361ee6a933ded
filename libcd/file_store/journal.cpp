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

// Another generation of the same file, still without extents.
Superblock next_generation(const Superblock &header) {
    Superblock next;
    next.id = header.id;
    next.rank = header.rank;
    next.name = header.name;
    next.names_all_objects = header.names_all_objects;
    next.generation = header.generation + 1;
    return next;
}

// Binding fewer takes no time that anybody would notice.
constexpr size_t always_few = 1000;

bool is_twice(const Loaded &loaded) {
    return loaded.header.copy_distance > 0 && loaded.older.generation == 0;
}

} // namespace

HeldGeneration::~HeldGeneration() {
    for (const Extent &extent : header.places()) {
        if (extent.length > 0) {
            volume_.release(extent);
        }
    }
}

void Metadata::begin_writing() { begun_ = volume_.forcing().mark(); }

Status Metadata::force() { return forced_ ? volume_.forcing().force(begun_) : Status::ok(); }

// Both headers are the same: if one is damaged before there is a second generation, the other
// knows everything too. Whoever gives the file its name forces it to the disk before.
Status Metadata::create(const Superblock &identity, std::span<const std::byte> changes) {
    begin_writing();
    auto first = std::make_shared<HeldGeneration>(volume_, next_generation(identity));
    Status status =
        write_generation(*first, changes, {format::smallest_journal, format::smallest_journal});
    for (size_t slot = 0; status.is_ok() && slot < format::headers; ++slot) {
        first->header.slot = slot;
        status = write_header(volume_.file(), first->header);
    }
    if (status.is_ok()) {
        newest_ = std::move(first);
        status = keep_spares(0, LongerFile::allowed);
    }
    return status;
}

void Metadata::take_over(const Loaded &loaded) {
    newest_ = std::make_shared<HeldGeneration>(volume_, loaded.header);
    if (loaded.older.generation != 0) {
        older_ = std::make_shared<HeldGeneration>(volume_, loaded.older);
    }
    records_ = loaded.records;
    used_ = loaded.journal_used;
    count(loaded.state);
    moved_ = loaded.state.moved;
    newer_ = loaded.newer;
    given_up_ = loaded.given_up;
    doubtful_ = !loaded.doubt.empty() || !loaded.flaw.empty() || loaded.has_leftover ||
                loaded.header.version < format::version || (twice_ && !is_twice(loaded));
    // What the process before has kept is free now. Whoever opens a file changes nothing in it.
    best_effort([&] {
        if (Status status = keep_spares(0, LongerFile::refused); status) {
            return status;
        }
        grown_ = grown_to(loaded.state);
        return keep_spares(0, LongerFile::refused);
    });
}

// A header that is on the disk, as far as we know, but does not count, names a state that only
// stays true as long as nothing is appended.
bool Metadata::has_to_move() const { return doubtful_ || newer_ > 0 || !abandoned_.empty(); }

Status Metadata::append(std::span<const std::byte> changes, const Growth &growth) {
    const uint64_t size = record_size(changes.size());
    if (spares_.size() < spares_wanted()) {
        best_effort([&] { return keep_spares(0, LongerFile::allowed); });
    }
    if (has_to_move() || used_ + size > newest_->header.journal.length) {
        if (Status status = move({}, size); !status) {
            return status;
        }
    }
    bool counted = false;
    if (Status status = keep_room_for(changes, growth, counted); !status) {
        return status;
    }
    begin_writing();
    const Superblock &header = newest_->header;
    const ByteWriter record = encode_record(header, records_, changes);
    unsettled_ = size;
    Status status;
    for (const uint64_t distance : header.distances()) {
        const uint64_t at = header.journal.offset + distance + used_;
        status = status ? volume_.file().write(at, record.bytes().data(), record.size()) : status;
    }
    if (status.is_ok()) {
        status = force();
    }
    if (!status) {
        const SavedMessage keeper;
        (void)settle().is_ok(); // else whoever appends next has to
        return status;
    }
    unsettled_ = 0;
    used_ += size;
    ++records_;
    longest_ = std::max(longest_, size);
    count(growth, counted);
    return Status::ok();
}

bool Metadata::says_the_same() const {
    const SavedMessage keeper;
    const Superblock &header = newest_->header;
    FoundHeader found;
    for (size_t slot = 0; slot < format::headers; ++slot) {
        if (!read_header(volume_.file(), slot, found) ||
            found.header.generation > header.generation) {
            return false;
        }
    }
    // What may be left of a record that failed here cannot be told from the other process's.
    const uint64_t next = header.journal.offset + used_;
    std::array<std::byte, format::sector> bytes = {};
    return has_to_move() || next == header.journal.end() ||
           (is_settled() && volume_.file().read(next, bytes.data(), bytes.size()) &&
            Unused(header).is_all_of(next, bytes));
}

Status Metadata::settle() {
    if (is_settled()) {
        return Status::ok();
    }
    begin_writing();
    const Superblock &header = newest_->header;
    Status status;
    for (const uint64_t distance : header.distances()) {
        const uint64_t at = header.journal.offset + distance + used_;
        status = status ? Unused(header).write(volume_.file(), at, unsettled_) : status;
    }
    if (status.is_ok()) {
        status = force();
    }
    if (status.is_ok()) {
        unsettled_ = 0;
    }
    return status;
}

bool Metadata::has_many(size_t moved) const {
    return moved_ + moved > std::max(always_few, entries_ / 4);
}

Status Metadata::rebase(std::span<const std::byte> changes) { return move(changes, 0); }

Status Metadata::load_with(std::span<const std::byte> changes, State &state) const {
    if (Status status = load_again(volume_.file(), newest_->header, records_, state); !status) {
        return status;
    }
    for (size_t i = 0; i < newer_; ++i) {
        std::vector<Extent> given_up; // which is known
        go_back(state, given_up);
    }
    if (const char *wrong = apply_changes(changes, state)) {
        return fail(CD_ERROR_STORE_DAMAGED, "%s: the metadata cannot be moved: %s",
                    volume_.file().path(), wrong);
    }
    return Status::ok();
}

Status Metadata::move(std::span<const std::byte> changes, uint64_t room) {
    State state;
    if (Status status = load_with(changes, state); !status) {
        return status;
    }
    begin_writing();
    ChangeWriter snapshot;
    write_snapshot(state, snapshot);
    auto next = std::make_shared<HeldGeneration>(volume_, next_generation(newest_->header));
    next->header.slot = newest_->header.other_slot();
    const JournalLength journal = {
        format::whole_blocks(std::max<uint64_t>({format::smallest_journal, snapshot.bytes().size(),
                                                 2 * room, two_records(snapshot.bytes().size())})),
        format::whole_blocks(std::max(shortest_journal, room))};
    abandoned_.reserve(abandoned_.size() + 1);
    spares_.reserve(most_spares);
    if (Status status = write_generation(*next, snapshot.bytes().bytes(), journal); !status) {
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
    count(state);
    grown_ = 0;
    moved_ = 0;
    doubtful_ = false;
    newer_ = 0;
    for (const Extent &extent : std::exchange(given_up_, {})) {
        volume_.release(extent);
    }
    if (twice_) {
        write_other_header();
    }
    best_effort([&] { return keep_spares(0, LongerFile::allowed); });
    return Status::ok();
}

// Where it fails nothing is left of it but what next gives back.
Status Metadata::write_generation(HeldGeneration &next, std::span<const std::byte> snapshot,
                                  JournalLength journal) {
    Superblock &header = next.header;
    header.snapshot_length = snapshot.size();
    header.snapshot_checksum = crc32c(0, snapshot.data(), snapshot.size());
    const uint64_t room = format::whole_blocks(std::max<size_t>(snapshot.size(), 1));
    if (Status status = reserve_generation(header, room, journal); !status) {
        return status;
    }
    File &file = volume_.file();
    Status status;
    for (const uint64_t distance : header.distances()) {
        const uint64_t at = header.snapshot.offset + distance;
        status = status ? file.write(at, snapshot.data(), snapshot.size()) : status;
        const uint64_t journal_at = header.journal.offset + distance;
        status = status ? Unused(header).write(file, journal_at, header.journal.length) : status;
    }
    if (status.is_ok()) {
        status = force();
    }
    return status;
}

// The header counts, or what was in its place is there again; or it is not known which.
Status Metadata::flip_to(const std::shared_ptr<HeldGeneration> &next) {
    Status status = write_header(volume_.file(), next->header);
    if (status.is_ok()) {
        status = force();
    }
    if (status.is_ok()) {
        abandoned_.clear();
        return status;
    }
    abandoned_.push_back(next);
    const SavedMessage keeper;
    if (take_back_header().is_ok()) {
        abandoned_.clear();
    }
    return status;
}

// If one of them is damaged, the other knows everything, too. What fails is tried again with the
// next generation; until then the header may name the one before.
void Metadata::write_other_header() {
    doubtful_ = true;
    best_effort([&] {
        Superblock other = newest_->header;
        other.slot = other.other_slot();
        begin_writing();
        Status status = write_header(volume_.file(), other);
        status = status ? force() : status;
        if (status.is_ok()) {
            doubtful_ = false;
            take_place_of(older_);
            older_.reset();
        }
        return status;
    });
}

Status Metadata::take_back_header() {
    Superblock header = older_ != nullptr ? older_->header : newest_->header;
    header.slot = newest_->header.other_slot();
    begin_writing();
    Status status = write_header(volume_.file(), header);
    return status.is_ok() ? force() : status;
}

// Where the generations of a store's metadata lie, and the room that is kept for those to come.

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
