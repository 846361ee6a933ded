// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/loading.h"

#include "file_store/generation.h"
#include "file_store/points_in_time.h"
#include "file_store/space.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace cd {
namespace {

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
        if (!std::ranges::is_sorted(extents, {}, &Extent::offset)) { // as they were after an add
            std::ranges::sort(extents, {}, &Extent::offset);
        }
        for (const Extent &extent : header.places()) {
            extents.insert(std::ranges::upper_bound(extents, extent.offset, {}, &Extent::offset),
                           extent);
        }
        for (const Extent &extent : header.places()) {
            if (extent.end() > file_size_) { // of the first copy that is known already
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

    // Whether the file has these metadata, and nothing else in their place: what was cut off would
    // be given twice once they are given up.
    bool is_there_beside(const std::vector<Extent> &sorted, const Superblock &other) const {
        return std::ranges::all_of(other.places(), [&](const Extent &extent) {
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
