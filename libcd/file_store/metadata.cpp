// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/metadata.h"

#include "file_store/changes.h"
#include "file_store/records.h"
#include "store/crc32c.h"

#include <algorithm>

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

} // namespace

HeldGeneration::~HeldGeneration() {
    for (const Extent &extent : {header.snapshot, header.journal}) {
        if (extent.length > 0) {
            volume_.release(extent);
        }
    }
}

Status Metadata::force() { return forced_ ? volume_.file().sync_data() : Status::ok(); }

Status Metadata::create(const Header &identity, std::span<const std::byte> changes) {
    auto first = std::make_shared<HeldGeneration>(volume_, next_generation(identity));
    if (Status status = write_generation(first, changes, format::smallest_journal); !status) {
        return status;
    }
    newest_ = std::move(first);
    // So that a header that is not there is always damage.
    Header spare = newest_->header;
    spare.generation = 0;
    return write_header(volume_.file(), spare);
}

void Metadata::take_over(const Loaded &loaded) {
    newest_ = std::make_shared<HeldGeneration>(volume_, loaded.header);
    if (loaded.older.generation != 0) {
        older_ = std::make_shared<HeldGeneration>(volume_, loaded.older);
    }
    records_ = loaded.records;
    used_ = loaded.journal_used;
    must_move_ = !loaded.doubt.empty();
}

Status Metadata::append(std::span<const std::byte> changes) {
    const uint64_t size = record_size(changes.size());
    if (must_move_ || used_ + size > newest_->header.journal.length) {
        if (Status status = move(size); !status) {
            return status;
        }
    }
    if (Status status = settle(); !status) {
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
        // If this fails too, the next operation tries again before it does anything else.
        const MessageKeeper keeper;
        (void)settle().is_ok();
        return status;
    }
    unsettled_ = 0;
    used_ += size;
    ++records_;
    return Status::ok();
}

Status Metadata::settle() {
    if (unsettled_ == 0) {
        return Status::ok();
    }
    Status status = volume_.file().write_zeros(newest_->header.journal.offset + used_, unsettled_);
    if (status.is_ok()) {
        status = force();
    }
    if (status.is_ok()) {
        unsettled_ = 0;
    }
    return status;
}

// Once it has failed it is repeated before anything else is appended: a header that was not
// written as far as we know may be on the disk, and names a state that only stays true until then.
Status Metadata::move(uint64_t room) {
    if (Status status = settle(); !status) {
        return status;
    }
    State state;
    if (Status status = load_again(volume_.file(), newest_->header, records_, state); !status) {
        return status;
    }
    return move_to(state, room);
}

Status Metadata::rewrite(const State &state) {
    if (Status status = settle(); !status) {
        return status;
    }
    return move_to(state, 0);
}

Status Metadata::move_to(const State &state, uint64_t room) {
    ChangeWriter snapshot;
    write_snapshot(state, snapshot);
    auto next = std::make_shared<HeldGeneration>(volume_, next_generation(newest_->header));
    const uint64_t journal =
        std::max<uint64_t>({format::smallest_journal, snapshot.bytes().size(), 2 * room});
    must_move_ = true;
    if (Status status = write_generation(next, snapshot.bytes().bytes(), journal); !status) {
        return status;
    }
    must_move_ = false;
    abandoned_.clear();
    older_ = std::move(newest_);
    newest_ = std::move(next);
    records_ = 0;
    used_ = 0;
    return Status::ok();
}

// Where it fails once the header may be in the file, next is among the abandoned ones.
Status Metadata::write_generation(const std::shared_ptr<HeldGeneration> &next,
                                  std::span<const std::byte> snapshot, uint64_t journal) {
    abandoned_.reserve(abandoned_.size() + 1);
    journal = (journal + format::block - 1) / format::block * format::block;
    Header &header = next->header;
    header.snapshot_length = snapshot.size();
    header.snapshot_checksum = crc32c(0, snapshot.data(), snapshot.size());
    const uint64_t snapshot_room = std::max<uint64_t>(snapshot.size(), format::block);
    if (Status status = volume_.reserve(snapshot_room, header.snapshot); !status) {
        return status;
    }
    if (Status status = volume_.reserve(journal, header.journal); !status) {
        return status;
    }
    File &file = volume_.file();
    Status status = file.write(header.snapshot.offset, snapshot.data(), snapshot.size());
    if (status.is_ok()) {
        status = file.write_zeros(header.journal.offset, header.journal.length);
    }
    if (status.is_ok()) {
        status = force();
    }
    if (!status) {
        return status;
    }
    status = write_header(file, header);
    if (status.is_ok()) {
        status = force();
    }
    if (!status) {
        abandoned_.push_back(next);
    }
    return status;
}

} // namespace cd
