// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/load.h"

#include "file_store/allocator.h"
#include "file_store/change_encoder.h"
#include "file_store/record.h"
#include "file_store/stored_data.h"
#include "memory/crc32c.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace cd {
namespace {

using Runs = std::vector<bool>; // by their number, whether an entry has it

void collect(const StoredEntries &entries, Runs &runs) {
    for (const auto &[place, entry] : entries) {
        if (entry.run != nullptr) {
            runs[entry.run->number] = true;
        }
    }
}

Runs newest_runs(const State &state) {
    Runs runs(state.runs->size());
    for (const auto &[number, cd] : state.cds) {
        collect(cd.entries, runs);
    }
    return runs;
}

Runs older_runs(const State &state) {
    Runs runs(state.runs->size());
    for (const StoredVersion &version : state.versions) {
        collect(version.entries, runs);
    }
    return runs;
}

uint64_t newest_epoch(const State &state) { return state.cds.begin()->second.epoch; }

void add_reason(std::string &reasons, const std::string &reason) {
    reasons += (reasons.empty() ? "" : "; ") + reason;
}

Status damaged(const File &file, uint64_t offset, const char *reason) {
    return fail(CD_ERROR_STORE_DAMAGED,
                "%s: the store is damaged at offset %llu: %s. The file was left as it is; remove "
                "it, or start with CD_RESTART=no",
                file.path(), static_cast<unsigned long long>(offset), reason);
}

} // namespace

Status check_newest(const File &file, const State &state, Unchecked unchecked) {
    const Runs newest = newest_runs(state);
    for (const StoredRun &run : *state.runs) {
        if (!newest[run.number]) {
            continue;
        }
        if (unchecked == Unchecked::counts_as_damaged && run.checksums.empty() && run.length > 0) {
            return fail(CD_ERROR_STORE_DAMAGED,
                        "%s: newer operations may have written over the %llu bytes at offset "
                        "%llu, which have no checksums (checksum=none). The file was left as it "
                        "is; start with CD_RESTART=no",
                        file.path(), static_cast<unsigned long long>(run.length),
                        static_cast<unsigned long long>(run.offset));
        }
        if (Status status = check_run(file, run); !status) {
            return status;
        }
    }
    return Status::ok();
}

void go_back(State &state, std::vector<Extent> &given_up) {
    const Runs kept = older_runs(state);
    const Runs newest = newest_runs(state);
    for (const StoredRun &run : *state.runs) {
        if (newest[run.number] && !kept[run.number]) {
            given_up.push_back({run.offset, run.length});
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
    return known + " " + std::to_string(newest_epoch(state));
}

Status take_newest_whole(const File &file, Loaded &loaded, Unchecked unchecked) {
    const uint64_t epoch = newest_epoch(loaded.state);
    const bool has_older = !loaded.state.versions.empty();
    cd_error newest_code = CD_ERROR_NONE;
    std::string why_newest;
    while (true) {
        const Status status = check_newest(file, loaded.state, unchecked);
        if (status.is_ok() || status.code() == CD_ERROR_STORE_IO) {
            return status;
        }
        const std::string why = file.reason();
        if (why_newest.empty()) {
            newest_code = status.code();
            why_newest = why;
        }
        if (loaded.state.versions.empty()) {
            return fail(newest_code,
                        "%s: no whole point in time is in the store (epoch %llu%s): %s. The file "
                        "was left as it is; put a copy in its place, or start with CD_RESTART=no",
                        file.path(), static_cast<unsigned long long>(epoch),
                        has_older ? " and older ones" : "", why_newest.c_str());
        }
        add_reason(loaded.doubt, "epoch " + std::to_string(newest_epoch(loaded.state)) +
                                     " is damaged (" + why + ")");
        go_back(loaded);
    }
}

namespace {

// Reads the snapshot and the journal that a header names, once. May throw std::bad_alloc.
class Generation {
public:
    Generation(const File &file, const Superblock &header, uint64_t file_size)
        : file_(file), header_(header), file_size_(file_size) {}

    // Reads the snapshot, and up to `most` records.
    Status read(State &state, uint64_t most) {
        Status status = read_snapshot(state);
        return status ? read_journal(state, most) : status;
    }

    uint64_t records() const { return records_; }
    uint64_t used() const { return used_; }
    // Returns what follows the records.
    FoundRecord::Kind behind() const { return behind_; }

private:
    using Bytes = std::vector<std::byte>;

    Status read_snapshot(State &state) const {
        const uint64_t offset = header_.snapshot.offset;
        if (header_.snapshot.end() > file_size_ || header_.journal.end() > file_size_) {
            return damaged(file_, file_size_, "the file ends before its metadata do");
        }
        Bytes bytes(header_.snapshot_length);
        if (Status status = file_.read(offset, bytes.data(), bytes.size()); !status) {
            return status;
        }
        if (crc32c(0, bytes.data(), bytes.size()) != header_.snapshot_checksum) {
            return damaged(file_, offset, "the snapshot does not match its checksum");
        }
        const char *wrong = apply_changes(bytes, state);
        return wrong == nullptr ? Status::ok() : damaged(file_, offset, wrong);
    }

    Status read_journal(State &state, uint64_t most) {
        const Extent &place = header_.journal;
        Bytes journal(place.length);
        if (Status status = file_.read(place.offset, journal.data(), journal.size()); !status) {
            return status;
        }
        while (records_ < most && used_ < journal.size()) {
            const FoundRecord record = find_record(header_, records_, journal, used_);
            if (record.kind != FoundRecord::Kind::whole) {
                behind_ = record.kind;
                break;
            }
            if (const char *wrong = apply_changes(record.changes, state)) {
                return damaged(file_, place.offset + used_, wrong);
            }
            used_ += record.size;
            ++records_;
        }
        return Status::ok();
    }

    const File &file_;
    const Superblock &header_;
    uint64_t file_size_;
    uint64_t records_ = 0;
    uint64_t used_ = 0;
    FoundRecord::Kind behind_ = FoundRecord::Kind::end;
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
            add_reason(doubt_, file_.reason());
        }
        return status;
    }

private:
    Status read_headers() {
        if (file_size_ < format::first_extent) {
            return damaged(file_, file_size_, "the file is too short to be a store");
        }
        size_t missing = 0;
        for (size_t slot = 0; slot < format::headers; ++slot) {
            FoundHeader found;
            if (Status status = read_header(file_, slot, found); !status) {
                if (status.code() != CD_ERROR_STORE_DAMAGED) {
                    return status;
                }
                add_reason(doubt_, file_.reason());
                continue;
            }
            const auto kind = found.kind;
            if (kind == FoundHeader::Kind::other_version) {
                return fail(
                    CD_ERROR_STORE_VERSION,
                    "%s: the store has format version %u, this library reads version %u only; "
                    "read it with the library that wrote it, or start with CD_RESTART=no",
                    file_.path(), found.version, format::version);
            }
            if (kind == FoundHeader::Kind::whole) {
                headers_.push_back(found.header);
                continue;
            }
            missing += kind == FoundHeader::Kind::none ? 1 : 0;
            add_reason(doubt_,
                       "the header at offset " + std::to_string(slot * format::block) +
                           (kind == FoundHeader::Kind::none ? " is missing" : " is damaged"));
        }
        if (headers_.empty()) {
            const std::string reason = missing == format::headers
                                           ? "there is no header"
                                           : "no header is whole (" + doubt_ + ")";
            return damaged(file_, 0, reason.c_str());
        }
        std::ranges::sort(headers_, std::ranges::greater(), &Superblock::generation);
        return Status::ok();
    }

    Status take(const Superblock &header) {
        Loaded found;
        found.header = header;
        State &state = found.state;
        Generation generation(file_, header, file_size_);
        if (Status status = generation.read(state, UINT64_MAX); !status) {
            return status;
        }
        found.records = generation.records();
        found.journal_used = generation.used();
        found.has_leftover = generation.behind() != FoundRecord::Kind::end;
        if (const char *wrong = find_wrong(state)) {
            return damaged(file_, header.snapshot.offset, wrong);
        }
        if (Status status = find_extents(header, state, found.extents); !status) {
            return status;
        }
        found.doubt = doubt_;
        for (const Superblock &other : headers_) {
            if (other.generation >= header.generation) {
                continue;
            }
            if (is_there_beside(found.extents, other)) {
                found.older = other;
            } else {
                add_reason(found.doubt, "the older metadata are not where the header at offset " +
                                            std::to_string(other.slot * format::block) + " says");
            }
        }
        if (generation.behind() == FoundRecord::Kind::damaged) {
            const uint64_t at = header.journal.offset + generation.used();
            // The empty beginning is no point in time to go back to.
            if (holds_nothing(state)) {
                return damaged(file_, at, "the record is damaged, and there is nothing before it");
            }
            add_reason(found.doubt, "the record at offset " + std::to_string(at) + " is damaged");
        }
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

    // Returns what no family of CDs can be, or nullptr.
    static const char *find_wrong(const State &state) {
        if (!state.cds.contains(State::root)) {
            return "there is no root";
        }
        std::vector<std::pair<uint64_t, int>> places;
        for (const auto &[number, cd] : state.cds) {
            if (!state.cds.contains(cd.parent)) {
                return "a CD has no parent";
            }
            if (number != State::root) {
                places.emplace_back(cd.parent, cd.sibling);
            }
        }
        std::ranges::sort(places);
        return std::ranges::adjacent_find(places) == places.end() ? nullptr
                                                                  : "two CDs are one in the family";
    }

    static bool holds_nothing(const State &state) {
        return state.versions.empty() && std::ranges::all_of(state.cds, [](const auto &each) {
                   return each.second.entries.empty() && each.second.files.empty();
               });
    }

    // Collects all extents, and fails if one lies behind the end of the file, or two overlap.
    Status find_extents(const Superblock &header, const State &state,
                        std::vector<Extent> &extents) const {
        const Runs newest = newest_runs(state);
        const Runs older = older_runs(state);
        for (const StoredRun &run : *state.runs) {
            if ((newest[run.number] || older[run.number]) && run.length > 0) {
                extents.push_back({run.offset, run.length});
            }
        }
        const auto metadata = header.places();
        extents.insert(extents.end(), metadata.begin(), metadata.end());
        std::ranges::sort(extents, {}, &Extent::offset);
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
    Generation generation(file, header, size);
    if (Status status = generation.read(state, records); !status) {
        return status;
    }
    return generation.records() == records
               ? Status::ok()
               : damaged(file, header.journal.offset + generation.used(),
                         "a record that was written is not there any more");
}

} // namespace cd
