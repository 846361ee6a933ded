// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/metadata.h"

#include "base/attempt.h"
#include "file_store/changes.h"
#include "file_store/records.h"
#include "file_store/unused.h"
#include "store/crc32c.h"

#include <algorithm>
#include <array>
#include <utility>

namespace cd {
namespace {

// Another generation of the same file, still without extents.
Header next_generation(const Header &header) {
    Header next;
    next.id = header.id;
    next.rank = header.rank;
    next.name = header.name;
    next.generation = header.generation + 1;
    return next;
}

// Binding fewer takes no time that anybody would notice.
constexpr size_t always_few = 1000;

// What a journal is where there is no room for more: enough to go on.
constexpr uint64_t shortest_journal = format::smallest_journal / 4;

size_t entries_of(const State &state) {
    size_t entries = 0;
    for (const auto &[number, cd] : state.cds) {
        entries += cd.entries.size();
    }
    return entries;
}

} // namespace

HeldGeneration::~HeldGeneration() {
    for (const Extent &extent : {header.snapshot, header.journal}) {
        if (extent.length > 0) {
            volume_.release(extent);
        }
    }
}

Status Metadata::no_spare() const {
    return fail(CD_ERROR_STORE_FULL, "%s: there is no room for the next metadata in the file",
                volume_.file().path());
}

Status Metadata::force() { return forced_ ? volume_.file().sync_data() : Status::ok(); }

// Both headers are the same: if one is damaged before there is a second generation, the other
// knows everything too. Whoever gives the file its name forces it to the disk before.
Status Metadata::create(const Header &identity, std::span<const std::byte> changes) {
    auto first = std::make_shared<HeldGeneration>(volume_, next_generation(identity));
    Status status =
        write_generation(*first, changes, {format::smallest_journal, format::smallest_journal});
    for (size_t slot = 0; status.is_ok() && slot < format::headers; ++slot) {
        first->header.slot = slot;
        status = write_header(volume_.file(), first->header);
    }
    if (status.is_ok()) {
        newest_ = std::move(first);
        status = keep_spares(needed_behind(0), Growth::allowed);
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
    entries_ = entries_of(loaded.state);
    moved_ = loaded.state.moved;
    doubtful_ = !loaded.doubt.empty() || loaded.has_leftover;
    // What the process before has kept is free now. Whoever opens a file changes nothing in it.
    attempt_quietly([&] { return keep_spares(needed_behind(0), Growth::refused); });
}

// Until the journal is full the state may grow by as much as that has room for; where there is less
// room, by less. Those that are outgrown are replaced; the file grows if there is no least
// otherwise.
Status Metadata::keep_spares(uint64_t least, Growth growth) {
    for (; spares_.size() > spares_wanted(); spares_.pop_back()) {
        volume_.release(spares_.back());
    }
    spares_.reserve(spares_wanted());
    const uint64_t both = newest_->header.snapshot.length + newest_->header.journal.length;
    const std::array<uint64_t, 3> lengths = {std::max(least, both + shortest_journal),
                                             std::max(least, both), least};
    for (size_t i = 0; i < spares_wanted(); ++i) {
        const uint64_t present = i < spares_.size() ? spares_[i].length : 0;
        Extent longer;
        const bool is_there = std::ranges::any_of(lengths, [&](uint64_t length) {
            return present >= length || volume_.reserve_inside(length, longer);
        });
        Status status;
        for (size_t j = 0; !is_there && j < lengths.size(); ++j) {
            status = growth == Growth::allowed ? volume_.reserve(lengths[j], longer) : no_spare();
            if (status.code() != CD_ERROR_STORE_FULL) {
                break;
            }
        }
        if (!status) {
            return status;
        }
        if (longer.length > 0 && present > 0) {
            volume_.release(std::exchange(spares_[i], longer));
        } else if (longer.length > 0) {
            spares_.push_back(longer);
        }
    }
    return Status::ok();
}

// Bytes for the next generation if these follow what the journal has.
uint64_t Metadata::needed_behind(uint64_t records) const {
    return newest_->header.snapshot.length + records + shortest_journal;
}

// Nothing is added that the next generation would not have room for.
Status Metadata::keep_room_behind(uint64_t size) {
    const auto is_there = [&] {
        return spares_.size() >= spares_wanted() &&
               std::ranges::all_of(spares_, [&](const Extent &spare) {
                   return spare.length >= needed_behind(used_ + size);
               });
    };
    Status status =
        is_there() ? Status::ok() : keep_spares(needed_behind(used_ + size), Growth::allowed);
    if (status.code() != CD_ERROR_STORE_FULL || records_ == 0) {
        return status;
    }
    status = move({}, size);
    return status && !is_there() ? keep_spares(needed_behind(size), Growth::allowed) : status;
}

bool Metadata::use_spare(Header &header, uint64_t snapshot, uint64_t least, uint64_t most) {
    const auto at = std::ranges::find_if(
        spares_, [&](const Extent &spare) { return spare.length >= snapshot + least; });
    if (at == spares_.end()) {
        return false;
    }
    header.snapshot = {at->offset, snapshot};
    header.journal = {header.snapshot.end(), std::min(most, at->length - snapshot)};
    volume_.release({header.journal.end(), at->end() - header.journal.end()});
    spares_.erase(at);
    return true;
}

// What it gets is given back by whoever has the header.
Status Metadata::reserve_generation(Header &header, uint64_t snapshot, JournalLength journal) {
    if (use_spare(header, snapshot, journal.wanted, journal.wanted)) {
        return Status::ok();
    }
    Status status = volume_.reserve(snapshot, header.snapshot);
    if (status.is_ok()) {
        status = volume_.reserve(journal.wanted, header.journal);
    }
    if (status.code() != CD_ERROR_STORE_FULL) {
        return status;
    }
    volume_.release(std::exchange(header.snapshot, {}));
    return use_spare(header, snapshot, journal.least, journal.wanted) ? Status::ok() : status;
}

// A header that is on the disk, as far as we know, but does not count, names a state that only
// stays true as long as nothing is appended.
bool Metadata::has_to_move() const { return doubtful_ || !abandoned_.empty(); }

Status Metadata::append(std::span<const std::byte> changes, bool adds) {
    const uint64_t size = record_size(changes.size());
    if (spares_.size() < spares_wanted()) {
        attempt_quietly([&] { return keep_spares(needed_behind(0), Growth::allowed); });
    }
    if (has_to_move() || used_ + size > newest_->header.journal.length) {
        if (Status status = move({}, size); !status) {
            return status;
        }
    }
    if (Status status = adds ? keep_room_behind(size) : Status::ok(); !status) {
        return status;
    }
    const Header &header = newest_->header;
    const ByteWriter record = encode_record(header, records_, changes);
    unsettled_ = size;
    Status status =
        volume_.file().write(header.journal.offset + used_, record.bytes().data(), record.size());
    if (status.is_ok()) {
        status = force();
    }
    if (!status) {
        const MessageKeeper keeper;
        (void)settle().is_ok(); // else whoever appends next has to
        return status;
    }
    unsettled_ = 0;
    used_ += size;
    ++records_;
    return Status::ok();
}

Status Metadata::settle() {
    if (is_settled()) {
        return Status::ok();
    }
    const Header &header = newest_->header;
    Status status = Unused(header).write(volume_.file(), header.journal.offset + used_, unsettled_);
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

Status Metadata::move(std::span<const std::byte> changes, uint64_t room) {
    State state;
    if (Status status = load_again(volume_.file(), newest_->header, records_, state); !status) {
        return status;
    }
    if (const char *wrong = apply_changes(changes, state)) {
        return fail(CD_ERROR_STORE_DAMAGED, "%s: the metadata cannot be moved: %s",
                    volume_.file().path(), wrong);
    }
    return move_to(state, room);
}

Status Metadata::rewrite(const State &state) { return move_to(state, 0); }

Status Metadata::move_to(const State &state, uint64_t room) {
    ChangeWriter snapshot;
    write_snapshot(state, snapshot);
    auto next = std::make_shared<HeldGeneration>(volume_, next_generation(newest_->header));
    next->header.slot = newest_->header.other_slot();
    const JournalLength journal = {
        format::whole_blocks(
            std::max<uint64_t>({format::smallest_journal, snapshot.bytes().size(), 2 * room})),
        format::whole_blocks(std::max(shortest_journal, room))};
    abandoned_.reserve(abandoned_.size() + 1);
    if (Status status = write_generation(*next, snapshot.bytes().bytes(), journal); !status) {
        return status;
    }
    if (Status status = flip_to(next); !status) {
        return status;
    }
    older_ = std::move(newest_);
    newest_ = std::move(next);
    records_ = 0;
    used_ = 0;
    entries_ = entries_of(state);
    moved_ = 0;
    doubtful_ = false;
    attempt_quietly([&] { return keep_spares(needed_behind(0), Growth::allowed); });
    return Status::ok();
}

// Where it fails nothing is left of it but what next gives back.
Status Metadata::write_generation(HeldGeneration &next, std::span<const std::byte> snapshot,
                                  JournalLength journal) {
    Header &header = next.header;
    header.snapshot_length = snapshot.size();
    header.snapshot_checksum = crc32c(0, snapshot.data(), snapshot.size());
    const uint64_t room = format::whole_blocks(std::max<size_t>(snapshot.size(), 1));
    if (Status status = reserve_generation(header, room, journal); !status) {
        return status;
    }
    File &file = volume_.file();
    Status status = file.write(header.snapshot.offset, snapshot.data(), snapshot.size());
    if (status.is_ok()) {
        status = Unused(header).write(file, header.journal.offset, header.journal.length);
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
    const MessageKeeper keeper;
    if (take_back_header().is_ok()) {
        abandoned_.clear();
    }
    return status;
}

Status Metadata::take_back_header() {
    Header header = older_ != nullptr ? older_->header : newest_->header;
    header.slot = newest_->header.other_slot();
    Status status = write_header(volume_.file(), header);
    return status.is_ok() ? force() : status;
}

} // namespace cd
