// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/load.h"

#include "file_store/allocator.h"
#include "file_store/change_encoder.h"
#include "file_store/record.h"
#include "file_store/stored_data.h"
#include "memory/crc32c.h"
#include "memory/large_allocator.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace cd {
namespace {

using Runs = std::unordered_set<const StoredRun *>;

void collect(const StoredEntries &entries, Runs &runs) {
    for (const auto &[place, entry] : entries) {
        if (entry.run != nullptr) {
            runs.insert(entry.run);
        }
    }
}

Status cannot_tell(const File &file, const StoredRun &run) {
    return fail(CD_ERROR_STORE_DAMAGED,
                "%s: newer operations may have written over the %llu bytes at offset %llu, which "
                "have no checksums (checksum=none). The file was left as it is; start with "
                "CD_RESTART=no",
                file.path(), static_cast<unsigned long long>(run.length),
                static_cast<unsigned long long>(run.offset));
}

} // namespace

Status check_newest(const File &file, const State &state, Unchecked unchecked) {
    Runs seen;
    for (const auto &[number, cd] : state.cds) {
        for (const auto &[place, entry] : cd.entries) {
            if (entry.run != nullptr && seen.insert(entry.run).second) {
                if (unchecked == Unchecked::counts_as_damaged && entry.run->checksums.empty() &&
                    entry.run->length > 0) {
                    return cannot_tell(file, *entry.run);
                }
                if (Status status = check_run(file, *entry.run); !status) {
                    return status;
                }
            }
        }
    }
    return Status::ok();
}

void go_back(State &state, std::vector<Extent> &given_up) {
    Runs kept;
    for (const StoredVersion &version : state.versions) {
        collect(version.entries, kept);
    }
    Runs newest;
    for (const auto &[number, cd] : state.cds) {
        collect(cd.entries, newest);
    }
    for (const StoredRun *run : newest) {
        if (!kept.contains(run)) {
            given_up.push_back({run->offset, run->length});
        }
    }
    StoredVersion version = std::move(state.versions.back());
    state.versions.pop_back();
    state.cds.erase(std::next(state.cds.begin()), state.cds.end());
    StoredCd &root = state.cds.begin()->second;
    root.epoch = version.epoch;
    root.entries = std::move(version.entries);
    root.files = std::move(version.files);
}

void go_back(Loaded &loaded) {
    go_back(loaded.state, loaded.given_up);
    ++loaded.newer;
}

std::string known_epochs(const State &state) {
    std::string known;
    for (const StoredVersion &version : state.versions) {
        known += " " + std::to_string(version.epoch);
    }
    return known + " " + std::to_string(state.cds.begin()->second.epoch);
}

Status take_newest_whole(const File &file, Loaded &loaded, Unchecked unchecked) {
    const Status newest = check_newest(file, loaded.state, unchecked);
    if (newest.is_ok() || newest.code() == CD_ERROR_STORE_IO) {
        return newest;
    }
    const size_t older_ones = loaded.state.versions.size();
    const unsigned long long epoch = loaded.state.cds.begin()->second.epoch;
    const std::string why = file.reason();
    std::optional<SavedMessage> keeper; // the damage of the newest one is reported
    keeper.emplace();
    while (!loaded.state.versions.empty()) {
        loaded.doubt += (loaded.doubt.empty() ? "epoch " : "; epoch ") +
                        std::to_string(loaded.state.cds.begin()->second.epoch) + " is damaged (" +
                        file.reason() + ")";
        go_back(loaded);
        const Status older = check_newest(file, loaded.state, unchecked);
        if (older.is_ok()) {
            return older;
        }
        // A later try may find this one whole.
        if (older.code() == CD_ERROR_STORE_IO) {
            const std::string reason = message();
            keeper.reset();
            return fail(older.code(), "%s", reason.c_str());
        }
    }
    keeper.reset();
    return fail(newest.code(),
                "%s: no whole point in time is in the store (epoch %llu%s): %s. The file was left "
                "as it is; put a copy in its place, or start with CD_RESTART=no",
                file.path(), epoch, older_ones == 0 ? "" : " and older ones", why.c_str());
}

namespace {

// Extents of this size and more are searched for holes, which would take memory when read.
constexpr uint64_t much = uint64_t{16} << 20;

Status damaged(const File &file, uint64_t offset, const char *reason) {
    return fail(CD_ERROR_STORE_DAMAGED,
                "%s: the store is damaged at offset %llu: %s. The file was left as it is; remove "
                "it, or start with CD_RESTART=no",
                file.path(), static_cast<unsigned long long>(offset), reason);
}

// Reads the snapshot and the journal that a header names, once. What is there twice is damaged only
// if both copies are. May throw std::bad_alloc.
class Generation {
public:
    // Reads all second copies, or only of what the first one lacks.
    enum class Copies { all, as_needed };
    Generation(const File &file, const Superblock &header, uint64_t file_size, Copies copies)
        : file_(file), header_(header), file_size_(file_size), copies_(copies) {}

    Status read_snapshot(State &state) {
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
        const char *wrong = apply_changes(bytes, state);
        return wrong == nullptr ? Status::ok() : damaged(file_, header_.snapshot.offset, wrong);
    }

    // Reads up to `most` records.
    Status read_journal(State &state, uint64_t most) {
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

    uint64_t records() const { return records_; }
    uint64_t used() const { return used_; }
    // Returns what follows the records. A record counts as soon as one copy has it, and is in both
    // when its operation returns: no record is lost if one place for the next was never written to.
    FoundRecord::Kind behind() const { return behind_; }
    // True if the copies of the journal are not alike.
    bool differs() const { return differs_; }
    // Returns the damage of one copy, or "".
    const std::string &flaw() const { return flaw_; }

private:
    using Bytes = std::vector<std::byte, LargeAllocator<std::byte>>;
    // One copy, with a header that names it alone, and its bytes up to a hole.
    struct Journal {
        Superblock header;
        Bytes bytes;
    };

    Status read_snapshot_at(uint64_t offset, Bytes &bytes) const {
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

    // Finds the next record: whole if one copy has it, else torn or the end if one copy says so.
    Status find_record_in_copies(std::vector<Journal> &journals, FoundRecord &found) {
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

    FoundRecord next_of(const Journal &journal) const {
        FoundRecord next;
        next.kind = FoundRecord::Kind::end;
        if (used_ < journal.bytes.size()) {
            next = find_record(journal.header, records_, journal.bytes, used_);
        }
        if (next.kind != FoundRecord::Kind::whole &&
            journal.bytes.size() < header_.journal.length) {
            next.kind = FoundRecord::Kind::damaged; // the hole may have had more
        }
        return next;
    }

    Status read_copy(uint64_t distance, std::vector<Journal> &journals) const {
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

    // length: gets the bytes before a hole of two blocks. Single blocks of zeros are valid: cp
    // --sparse=always makes a hole of the last block of a record.
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

    // Reads lost blocks as zeros, which no journal has.
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

    // Keeps the first one.
    void note_flaw(const std::string &flaw) {
        if (flaw_.empty()) {
            flaw_ = flaw;
        }
    }

    const File &file_;
    const Superblock &header_;
    uint64_t file_size_;
    Copies copies_;
    uint64_t records_ = 0;
    uint64_t used_ = 0;
    FoundRecord::Kind behind_ = FoundRecord::Kind::end;
    bool differs_ = false;
    std::string flaw_;
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
        for (const Superblock &header : headers_) {
            status = take(header);
            // After CD_ERROR_STORE_IO a later try may succeed.
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
        size_t missing_at = 0;
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
                    "%s: the store has format version %u, this library reads version %u only; "
                    "read it with the library that wrote it, or start with CD_RESTART=no",
                    file_.path(), found.version, format::version);
            case FoundHeader::Kind::whole:
                headers_.push_back(found.header);
                break;
            case FoundHeader::Kind::damaged:
                add_doubt("the header at offset " + std::to_string(i * format::block) +
                          " is damaged");
                break;
            case FoundHeader::Kind::none:
                ++nothing;
                missing_at = i * format::block;
            }
        }
        if (headers_.empty()) {
            const std::string reason = nothing == format::headers
                                           ? "there is no header"
                                           : "no header is whole (" + doubt_ + ")";
            return damaged(file_, 0, reason.c_str());
        }
        std::ranges::sort(headers_, std::ranges::greater(), &Superblock::generation);
        if (nothing > 0) {
            add_doubt("the header at offset " + std::to_string(missing_at) + " is missing");
        }
        return Status::ok();
    }

    Status take(const Superblock &header) {
        State state;
        Generation generation(file_, header, file_size_, Generation::Copies::all);
        if (Status status = generation.read_snapshot(state); !status) {
            return status;
        }
        if (Status status = generation.read_journal(state, UINT64_MAX); !status) {
            return status;
        }
        const FoundRecord::Kind behind = generation.behind();
        if (!state.cds.contains(State::root)) {
            return damaged(file_, header.snapshot.offset, "there is no root");
        }
        if (!std::ranges::all_of(state.cds, [&](const auto &each) {
                return state.cds.contains(each.second.parent);
            })) {
            return damaged(file_, header.snapshot.offset, "a CD has no parent");
        }
        // The empty beginning is no point in time to go back to.
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
        for (const Superblock &other : headers_) {
            if (other.generation >= header.generation) {
                continue;
            }
            if (is_there_beside(found.extents, other)) {
                found.older = other;
            } else {
                add_doubt("the older metadata are not where the header at offset " +
                          std::to_string(other.slot * format::block) + " says");
            }
        }
        found.doubt = doubt_;
        if (behind == FoundRecord::Kind::damaged) {
            found.doubt += (doubt_.empty() ? "" : "; ") + std::string("the record at offset ") +
                           std::to_string(header.journal.offset + generation.used()) +
                           " is damaged";
        }
        found.flaw = generation.flaw();
        found.has_leftover = behind != FoundRecord::Kind::end || generation.differs();
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

    // True if no two CDs have the same parent and sibling index.
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

    // Collects all extents, and fails if one lies behind the end of the file, or two overlap.
    Status find_extents(const Superblock &header, const State &state,
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
        if (!std::ranges::is_sorted(extents, {}, &Extent::offset)) { // sorted after an add
            std::ranges::sort(extents, {}, &Extent::offset);
        }
        for (const Extent &extent : header.places()) {
            extents.insert(std::ranges::upper_bound(extents, extent.offset, {}, &Extent::offset),
                           extent);
        }
        for (const Extent &extent : header.places()) {
            if (extent.end() > file_size_) { // the first copy was checked before
                return damaged(file_, file_size_,
                               "the file ends before the second copy of its metadata does");
            }
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

    // True if the file has these older metadata, and nothing else lies in their place.
    bool is_there_beside(const std::vector<Extent> &sorted, const Superblock &other) const {
        return std::ranges::all_of(other.places(), [&](const Extent &extent) {
            const auto behind =
                std::ranges::upper_bound(sorted, extent.offset, {}, &Extent::offset);
            return extent.end() <= file_size_ &&
                   (behind == sorted.end() || extent.end() <= behind->offset) &&
                   (behind == sorted.begin() || std::prev(behind)->end() <= extent.offset);
        });
    }

    // Adds the doubt to the error.
    static Status also(const std::string &doubt, const Status &status) {
        const std::string reason = message();
        return fail(status.code(), "%s (%s)", reason.c_str(), doubt.c_str());
    }

    void add_doubt(const std::string &reason) { doubt_ += (doubt_.empty() ? "" : "; ") + reason; }

    const File &file_;
    Loaded &loaded_;
    uint64_t file_size_ = 0;
    std::vector<Superblock> headers_; // whole ones, newest first
    std::string doubt_;
};

} // namespace

Status load(const File &file, Loaded &loaded) { return Loading(file, loaded).run(); }

Status load_again(const File &file, const Superblock &header, uint64_t records, State &state) {
    uint64_t size = 0;
    if (Status status = file.size(size); !status) {
        return status;
    }
    Generation generation(file, header, size, Generation::Copies::as_needed);
    if (Status status = generation.read_snapshot(state); !status) {
        return status;
    }
    if (Status status = generation.read_journal(state, records); !status) {
        return status;
    }
    return generation.records() == records
               ? Status::ok()
               : damaged(file, header.journal.offset + generation.used(),
                         "a record that was written is not there any more");
}

} // namespace cd
