// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/loading.h"

#include "file_store/changes.h"
#include "file_store/points_in_time.h"
#include "file_store/records.h"
#include "file_store/space.h"
#include "store/crc32c.h"
#include "store/large_allocator.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

namespace cd {
namespace {

Status damaged(const File &file, uint64_t offset, const char *reason) {
    return fail(CD_ERROR_STORE_DAMAGED,
                "%s: the store is damaged at offset %llu: %s. The file was left as it is; remove "
                "it, or start with CD_RESTART=no",
                file.path(), static_cast<unsigned long long>(offset), reason);
}

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

using MetadataBytes = std::vector<std::byte, LargeAllocator<std::byte>>;

// One header's snapshot and journal.
class Generation {
public:
    Generation(const File &file, const Header &header, uint64_t file_size)
        : file_(file), header_(header), file_size_(file_size) {}

    Status read_snapshot(State &state) {
        if (header_.snapshot.end() > file_size_ || header_.journal.end() > file_size_) {
            return damaged(file_, file_size_, "the file ends before its metadata do");
        }
        uint64_t there = 0;
        if (Status status =
                find_what_is_there({header_.snapshot.offset, header_.snapshot_length}, there);
            !status) {
            return status;
        }
        if (there < header_.snapshot_length) {
            return damaged(file_, header_.snapshot.offset + there, "the snapshot has a hole");
        }
        MetadataBytes bytes(header_.snapshot_length);
        if (Status status = file_.read(header_.snapshot.offset, bytes.data(), bytes.size());
            !status) {
            return status;
        }
        if (crc32c(0, bytes.data(), bytes.size()) != header_.snapshot_checksum) {
            return damaged(file_, header_.snapshot.offset,
                           "the snapshot does not match its checksum");
        }
        const char *wrong = apply_snapshot(bytes, state);
        if (header_.version < format::first_version_with_recent) {
            mark_recent(state);
        }
        state.grown = 0;
        return wrong == nullptr ? Status::ok() : damaged(file_, header_.snapshot.offset, wrong);
    }

    // Up to most records. behind: what follows them.
    Status read_journal(State &state, uint64_t most, FoundRecord::Kind &behind) {
        behind = FoundRecord::Kind::end;
        uint64_t there = 0;
        if (Status status = find_what_is_there(header_.journal, there); !status) {
            return status;
        }
        MetadataBytes bytes(there);
        if (Status status = read_blocks(header_.journal.offset, bytes); !status) {
            return status;
        }
        while (records_ < most && used_ < bytes.size()) {
            const FoundRecord record = find_record(header_, records_, bytes, used_);
            if (record.kind != FoundRecord::Kind::whole) {
                behind = record.kind;
                break;
            }
            if (const char *wrong = apply_changes(record.changes, state)) {
                return damaged(file_, header_.journal.offset + used_, wrong);
            }
            used_ += record.size;
            ++records_;
        }
        if (there < header_.journal.length && records_ < most) { // where others may have been
            behind = FoundRecord::Kind::damaged;
        }
        return Status::ok();
    }

    uint64_t records() const { return records_; }
    uint64_t used() const { return used_; }

private:
    // How much of it lies before a hole. All metadata are written, and at most the last block of a
    // record is one of zeros, of which others may have made a hole, as cp --sparse=always does.
    Status find_what_is_there(const Extent &extent, uint64_t &length) const {
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
    Status read_blocks(uint64_t offset, std::span<std::byte> bytes) const {
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

    const File &file_;
    const Header &header_;
    uint64_t file_size_;
    uint64_t records_ = 0;
    uint64_t used_ = 0;
};

class Loading {
public:
    Loading(const File &file, Loaded &loaded) : file_(file), loaded_(loaded) {}

    Status run() {
        if (Status status = file_.size(file_size_); !status) {
            return status;
        }
        if (Status status = read_headers(); !status) {
            return status;
        }
        Status status;
        for (const Header &header : headers_) {
            status = take(header);
            // The system may be able to read it the next time.
            if (status.is_ok() || status.code() == CD_ERROR_STORE_IO) {
                return status;
            }
            add_doubt(file_.reason());
        }
        return status;
    }

private:
    Status read_headers() {
        if (file_size_ < format::first_extent) {
            return damaged(file_, file_size_, "the file is too short to be a store");
        }
        size_t nothing = 0;
        for (size_t i = 0; i < format::headers; ++i) {
            FoundHeader found;
            if (Status status = read_header(file_, i, found); !status) {
                if (status.code() != CD_ERROR_STORE_DAMAGED) {
                    return status;
                }
                add_doubt(file_.reason());
                continue;
            }
            switch (found.kind) {
            case FoundHeader::Kind::other_version:
                return fail(
                    CD_ERROR_STORE_VERSION,
                    "%s: the store has format version %u, this library knows versions %u to %u; "
                    "read it with the library that wrote it, or start with CD_RESTART=no",
                    file_.path(), found.version, format::oldest_version, format::version);
            case FoundHeader::Kind::whole:
                headers_.push_back(found.header);
                break;
            case FoundHeader::Kind::damaged:
                add_doubt("the header at offset " + std::to_string(i * format::block) +
                          " is damaged");
                break;
            case FoundHeader::Kind::none:
                ++nothing;
            }
        }
        if (headers_.empty()) {
            const std::string reason = nothing == format::headers
                                           ? "there is no header"
                                           : "no header is whole (" + doubt_ + ")";
            return damaged(file_, 0, reason.c_str());
        }
        std::ranges::sort(headers_, std::ranges::greater(), &Header::generation);
        if (nothing > 0) {
            add_doubt("a header is missing");
        }
        return Status::ok();
    }

    Status take(const Header &header) {
        State state;
        Generation generation(file_, header, file_size_);
        if (Status status = generation.read_snapshot(state); !status) {
            return status;
        }
        FoundRecord::Kind behind = FoundRecord::Kind::end;
        if (Status status = generation.read_journal(state, UINT64_MAX, behind); !status) {
            return status;
        }
        if (!state.cds.contains(State::root)) {
            return damaged(file_, header.snapshot.offset, "there is no root");
        }
        if (!std::ranges::all_of(state.cds, [&](const auto &each) {
                return state.cds.contains(each.second.parent);
            })) {
            return damaged(file_, header.snapshot.offset, "a CD has no parent");
        }
        // The beginning is no point in time to go back to.
        if (behind == FoundRecord::Kind::damaged && holds_nothing(state)) {
            return damaged(file_, header.journal.offset + generation.used(),
                           "the record is damaged, and there is nothing before it");
        }
        if (!has_place_for_each(state)) {
            return damaged(file_, header.snapshot.offset, "two CDs are one in the family");
        }
        Loaded found;
        if (Status status = find_extents(header, state, found.extents); !status) {
            return status;
        }
        for (const Header &other : headers_) {
            if (other.generation >= header.generation) {
                continue;
            }
            if (is_there_beside(found.extents, other)) {
                found.older = other;
            } else {
                add_doubt("the older metadata are not where the header says");
            }
        }
        found.doubt = doubt_;
        if (behind == FoundRecord::Kind::damaged) {
            found.doubt += (doubt_.empty() ? "" : "; ") + std::string("the record at offset ") +
                           std::to_string(header.journal.offset + generation.used()) +
                           " is damaged";
        }
        found.has_leftover = behind != FoundRecord::Kind::end;
        found.header = header;
        found.records = generation.records();
        found.journal_used = generation.used();
        found.state = std::move(state);
        // Newer operations may have written over what an older state refers to.
        if (!found.doubt.empty()) {
            const std::string doubt = found.doubt;
            if (Status status = take_newest_whole(file_, found, Unchecked::counts_as_damaged);
                !status) {
                return status.code() == CD_ERROR_STORE_IO ? status : also(doubt, status);
            }
        }
        loaded_ = std::move(found);
        return Status::ok();
    }

    static bool holds_nothing(const State &state) {
        return state.versions.empty() && std::ranges::all_of(state.cds, [](const auto &each) {
                   return each.second.entries.empty() && each.second.files.empty();
               });
    }

    // Parent and sibling index are what tells a CD from others.
    static bool has_place_for_each(const State &state) {
        std::vector<std::pair<uint64_t, int>> places;
        for (const auto &[number, cd] : state.cds) {
            if (number != State::root) {
                places.emplace_back(cd.parent, cd.sibling);
            }
        }
        std::ranges::sort(places);
        return std::ranges::adjacent_find(places) == places.end();
    }

    // That the data are as they should be is found when they are read, but a part of the file that
    // is gone must not be taken for free, nor two things that lie in one place for what they were.
    Status find_extents(const Header &header, const State &state,
                        std::vector<Extent> &extents) const {
        std::vector<bool> used(state.runs->size());
        const auto add = [&](const StoredEntries &entries) {
            for (const auto &[place, entry] : entries) {
                if (entry.run != nullptr) {
                    used[entry.run->number] = true;
                }
            }
        };
        for (const auto &[number, cd] : state.cds) {
            add(cd.entries);
        }
        for (const StoredVersion &version : state.versions) {
            add(version.entries);
        }
        for (const StoredRun &run : *state.runs) {
            if (used[run.number] && run.length > 0) {
                extents.push_back({run.offset, run.length});
            }
        }
        if (!std::ranges::is_sorted(extents, {}, &Extent::offset)) { // as they were after an add
            std::ranges::sort(extents, {}, &Extent::offset);
        }
        for (const Extent &extent : {header.snapshot, header.journal}) {
            extents.insert(std::ranges::upper_bound(extents, extent.offset, {}, &Extent::offset),
                           extent);
        }
        uint64_t end = format::first_extent;
        for (const Extent &extent : extents) {
            if (extent.end() > file_size_) {
                return damaged(file_, file_size_, "the file ends before its data do");
            }
            if (extent.offset < end) {
                return damaged(file_, extent.offset, "two things lie in one place");
            }
            end = extent.offset + Space::rounded(extent.length);
        }
        return Status::ok();
    }

    // Whether the file has these metadata, and nothing else in their place: what was cut off would
    // be given twice once they are given up.
    bool is_there_beside(const std::vector<Extent> &sorted, const Header &other) const {
        return std::ranges::all_of(
            std::array{other.snapshot, other.journal}, [&](const Extent &extent) {
                const auto behind =
                    std::ranges::upper_bound(sorted, extent.offset, {}, &Extent::offset);
                return extent.end() <= file_size_ &&
                       (behind == sorted.end() || extent.end() <= behind->offset) &&
                       (behind == sorted.begin() || std::prev(behind)->end() <= extent.offset);
            });
    }

    // The error with what made somebody look.
    static Status also(const std::string &doubt, const Status &status) {
        const std::string reason = message();
        return fail(status.code(), "%s (%s)", reason.c_str(), doubt.c_str());
    }

    void add_doubt(const std::string &reason) { doubt_ += (doubt_.empty() ? "" : "; ") + reason; }

    const File &file_;
    Loaded &loaded_;
    uint64_t file_size_ = 0;
    std::vector<Header> headers_; // whole ones, newest first
    std::string doubt_;
};

} // namespace

Status load(const File &file, Loaded &loaded) { return Loading(file, loaded).run(); }

Status load_again(const File &file, const Header &header, uint64_t records, State &state) {
    uint64_t size = 0;
    if (Status status = file.size(size); !status) {
        return status;
    }
    Generation generation(file, header, size);
    if (Status status = generation.read_snapshot(state); !status) {
        return status;
    }
    FoundRecord::Kind behind = FoundRecord::Kind::end;
    if (Status status = generation.read_journal(state, records, behind); !status) {
        return status;
    }
    return generation.records() == records
               ? Status::ok()
               : damaged(file, header.journal.offset + generation.used(),
                         "a record that was written is not there any more");
}

} // namespace cd
