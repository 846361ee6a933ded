// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/metadata.h"

#include "base/no_throw.h"
#include "file_store/change_encoder.h"
#include "file_store/points_in_time.h"
#include "file_store/records.h"
#include "file_store/unused.h"
#include "memory/crc32c.h"

#include <algorithm>
#include <array>
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

} // namespace cd
