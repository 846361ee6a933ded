// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/generation.h"

#include "file_store/change_encoder.h"
#include "memory/crc32c.h"

#include <algorithm>
#include <array>
#include <utility>

namespace cd {
namespace {

// Where entries do not say it: what a point in time has is READ_ONLY.
void mark_recent(State &state) {
    for (auto &[number, cd] : state.cds) {
        for (auto &[place, entry] : cd.entries) {
            entry.recent = entry.access == CD_READ_WRITE;
        }
    }
}

// From there on it is looked whether the file has what it claims: holes take no room in a file, and
// would in memory.
constexpr uint64_t much = uint64_t{16} << 20;

} // namespace

Status damaged(const File &file, uint64_t offset, const char *reason) {
    return fail(CD_ERROR_STORE_DAMAGED,
                "%s: the store is damaged at offset %llu: %s. The file was left as it is; remove "
                "it, or start with CD_RESTART=no",
                file.path(), static_cast<unsigned long long>(offset), reason);
}

Status Generation::read_snapshot(State &state) {
    Bytes bytes;
    bool is_whole = false;
    Status status;
    for (const uint64_t distance : header_.distances()) {
        if (is_whole && copies_ == Copies::as_needed) {
            break;
        }
        Bytes found;
        status = read_snapshot_at(header_.snapshot.offset + distance, found);
        if (status.is_ok() && !is_whole) {
            bytes = std::move(found);
            is_whole = true;
        } else if (status.code() == CD_ERROR_STORE_DAMAGED) {
            note_flaw(file_.reason());
        } else if (!status) {
            return status;
        }
    }
    if (!is_whole) {
        return status;
    }
    const char *wrong = apply_snapshot(bytes, state);
    if (header_.version < format::first_version_with_recent) {
        mark_recent(state);
    }
    state.grown = 0;
    return wrong == nullptr ? Status::ok() : damaged(file_, header_.snapshot.offset, wrong);
}

Status Generation::read_snapshot_at(uint64_t offset, Bytes &bytes) const {
    const Extent snapshot = {offset, header_.snapshot.length};
    const uint64_t used = header_.snapshot_length;
    if (snapshot.end() > file_size_ || header_.journal.end() > file_size_) {
        return damaged(file_, file_size_, "the file ends before its metadata do");
    }
    uint64_t there = 0;
    if (Status status = find_what_is_there({offset, used}, there); !status) {
        return status;
    }
    if (there < used) {
        return damaged(file_, offset + there, "the snapshot has a hole");
    }
    bytes.resize(used);
    if (Status status = file_.read(offset, bytes.data(), bytes.size()); !status) {
        return status;
    }
    return crc32c(0, bytes.data(), bytes.size()) == header_.snapshot_checksum
               ? Status::ok()
               : damaged(file_, offset, "the snapshot does not match its checksum");
}

Status Generation::read_journal(State &state, uint64_t most) {
    std::vector<Journal> journals; // by copy, as far as they were read
    while (records_ < most) {
        FoundRecord record;
        if (Status status = find_record_in_copies(journals, record); !status) {
            return status;
        }
        if (record.kind != FoundRecord::Kind::whole) {
            behind_ = record.kind;
            break;
        }
        if (const char *wrong = apply_changes(record.changes, state)) {
            return damaged(file_, header_.journal.offset + used_, wrong);
        }
        used_ += record.size;
        ++records_;
    }
    return Status::ok();
}

// The next one: whole if one copy has it, else torn or none at all if one says so.
Status Generation::find_record_in_copies(std::vector<Journal> &journals, FoundRecord &found) {
    using Kind = FoundRecord::Kind;
    constexpr auto order = std::array{Kind::whole, Kind::torn, Kind::end, Kind::damaged};
    const auto place = [&](Kind kind) { return std::ranges::find(order, kind); };
    const auto distances = header_.distances();
    uint64_t damaged_at = 0;
    for (size_t i = 0; i < distances.size(); ++i) {
        if (i > 0 && found.kind == Kind::whole && copies_ == Copies::as_needed) {
            break;
        }
        if (i == journals.size()) {
            if (Status status = read_copy(distances[i], journals); !status) {
                return status;
            }
        }
        const FoundRecord next = next_of(journals[i]);
        damaged_at =
            next.kind == Kind::damaged ? journals[i].header.journal.offset + used_ : damaged_at;
        differs_ = differs_ || (i > 0 && next.kind != found.kind);
        if (i == 0 || place(next.kind) < place(found.kind)) {
            found = next;
        }
    }
    if (damaged_at > 0 && found.kind != Kind::damaged) {
        note_flaw("the record at offset " + std::to_string(damaged_at) + " is damaged");
    }
    return Status::ok();
}

FoundRecord Generation::next_of(const Journal &journal) const {
    FoundRecord next;
    next.kind = FoundRecord::Kind::end;
    if (used_ < journal.bytes.size()) {
        next = find_record(journal.header, records_, journal.bytes, used_);
    }
    if (next.kind != FoundRecord::Kind::whole && journal.bytes.size() < header_.journal.length) {
        next.kind = FoundRecord::Kind::damaged; // behind that others may have been
    }
    return next;
}

Status Generation::read_copy(uint64_t distance, std::vector<Journal> &journals) const {
    Superblock header = header_;
    header.journal.offset += distance;
    uint64_t there = 0;
    if (header.journal.end() <= file_size_) {
        if (Status status = find_what_is_there(header.journal, there); !status) {
            return status;
        }
    }
    Bytes bytes(there);
    if (Status status = read_blocks(header.journal.offset, bytes); !status) {
        return status;
    }
    journals.push_back({std::move(header), std::move(bytes)});
    return Status::ok();
}

// How much of it lies before a hole. All metadata are written, and at most the last block of a
// record is one of zeros, of which others may have made a hole, as cp --sparse=always does.
Status Generation::find_what_is_there(const Extent &extent, uint64_t &length) const {
    length = extent.length;
    std::array<std::byte, 2 *format::block> blocks = {};
    for (uint64_t at = extent.offset; extent.length >= much;) {
        at = format::whole_blocks(file_.hole_behind(at));
        if (at > extent.end() - blocks.size()) {
            break;
        }
        Status status = file_.read(at, blocks.data(), blocks.size());
        if (!status && status.code() != CD_ERROR_STORE_DAMAGED) {
            return status;
        }
        if (status.is_ok() && is_zero(blocks)) {
            length = at - extent.offset;
            break;
        }
        at += format::block;
    }
    return Status::ok();
}

// Blocks that are lost become zeros, which no journal has.
Status Generation::read_blocks(uint64_t offset, std::span<std::byte> bytes) const {
    Status status = file_.read(offset, bytes.data(), bytes.size());
    if (status.code() != CD_ERROR_STORE_DAMAGED) {
        return status;
    }
    for (size_t at = 0; at < bytes.size(); at += format::block) {
        const auto block = bytes.subspan(at, format::block);
        status = file_.read(offset + at, block.data(), block.size());
        if (status.code() == CD_ERROR_STORE_DAMAGED) {
            std::ranges::fill(block, std::byte{0});
        } else if (!status) {
            return status;
        }
    }
    return Status::ok();
}

// The first one is enough to tell of.
void Generation::note_flaw(const std::string &flaw) {
    if (flaw_.empty()) {
        flaw_ = flaw;
    }
}

} // namespace cd
