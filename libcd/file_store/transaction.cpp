// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/transaction.h"

#include "file_store/file_store.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

namespace cd {
namespace {

constexpr size_t copied_together = 16 * format::checked_part;

// Reads data that lie in several places, one after the other.
class StoredBytes {
public:
    explicit StoredBytes(std::span<const StoredPart> parts) : parts_(parts) {}

    size_t left() const {
        size_t left = 0;
        for (const StoredPart &part : parts_) {
            left += part.length;
        }
        return left - read_;
    }

    Status read(std::byte *to, size_t length) {
        Status status;
        while (length > 0 && status.is_ok()) {
            const auto &[data, size] = parts_.front();
            const size_t part = std::min(length, size - read_);
            status = data->block().backing()->read(data->offset() + read_, to, part);
            to += part;
            length -= part;
            read_ += part;
            if (read_ == size) {
                parts_ = parts_.subspan(1);
                read_ = 0;
            }
        }
        return status;
    }

private:
    std::span<const StoredPart> parts_;
    size_t read_ = 0; // of the first
};

} // namespace

FileTransaction::FileTransaction(FileStore &store)
    : store_(store), begun_(store.volume().forcing().mark()),
      writer_(store.volume(), store.options().checksummed, store.options().forced) {}

// Checks once in an operation: others change the file between two operations, if at all.
Status FileTransaction::check_file() {
    if (checked_) {
        return Status::ok();
    }
    Status status = store_.check_file();
    checked_ = status.is_ok();
    return status;
}

Status FileTransaction::keep(Range memory, Piece &place) {
    if (Status status = check_file(); !status) {
        return status;
    }
    // Another share of the place may be what the file refers to.
    const bool reusable = place && place.is_whole(memory.length()) &&
                          place.block().has_one_owner() && place.block().backing() != nullptr;
    if (!reusable) {
        place.give_up(memory.length());
        if (Status status = new_place(memory.length(), place); !status) {
            return status;
        }
    }
    hold_while_written(place, memory.length());
    const auto *at = static_cast<const std::byte *>(memory.address());
    Status status;
    for (StoredRun &run : static_cast<FileRun &>(*place.block().backing()).runs()) {
        if (status.is_ok()) {
            status = writer_.write(run.offset, at, run.length, run.checksums);
            at += run.length;
        }
    }
    return status;
}

Status FileTransaction::copy(std::span<const StoredPart> parts, Piece &place) {
    if (Status status = check_file(); !status) {
        return status;
    }
    size_t length = 0;
    for (const StoredPart &part : parts) {
        length += part.length;
    }
    const SavedMessage keeper;
    if (!new_place(length, place)) {
        return Status::ok();
    }
    hold_while_written(place, length);
    bool readable = true;
    Status status = copy_to(static_cast<FileRun &>(*place.block().backing()), parts, readable);
    if (!readable) {
        set_.data.push_back(std::move(place)); // its buffered bytes may still be written
    }
    return status;
}

Status FileTransaction::copy_to(FileRun &to, std::span<const StoredPart> parts, bool &readable) {
    StoredBytes from(parts);
    std::vector<std::byte> buffer(std::min(from.left(), copied_together));
    for (StoredRun &run : to.runs()) {
        for (size_t done = 0; done < run.length;) {
            const size_t part = std::min<size_t>(buffer.size(), run.length - done);
            readable = from.read(buffer.data(), part).is_ok();
            if (!readable) {
                return Status::ok();
            }
            Checksums checksums;
            if (Status status = writer_.write(run.offset + done, buffer.data(), part, checksums);
                !status) {
                return status;
            }
            run.checksums.insert(run.checksums.end(), checksums.begin(), checksums.end());
            done += part;
        }
    }
    return Status::ok();
}

// Keeps the place: after a failure it must not go to others before the writer has ended.
void FileTransaction::hold_while_written(const Piece &place, size_t length) {
    if (writer_.may_be_under_way(length)) {
        under_way_.push_back(place.share());
    }
}

Status FileTransaction::new_place(size_t length, Piece &place) {
    Volume &volume = store_.volume();
    Volume::Extents extents;
    if (Status status = volume.reserve_parts(length, extents); !status) {
        return status;
    }
    FileRun::Runs runs(extents.size());
    for (size_t i = 0; i < runs.size(); ++i) {
        runs[i].offset = extents[i].offset;
        runs[i].length = extents[i].length;
    }
    Block *block =
        Block::create_backed(std::make_unique<FileRun>(volume, std::move(runs), length), length);
    if (block == nullptr) {
        throw std::bad_alloc();
    }
    place = Piece::adopt(*block, 0);
    return Status::ok();
}

// Calls visit(bytes before it, length, where) for each run that holds some of the data; the changes
// name that run from now on.
template <typename Visit>
void FileTransaction::for_each_run(const Piece &data, size_t length, const Visit &visit) {
    size_t before = 0;
    const auto name = [&](const StoredRun &run, size_t offset, size_t part) {
        const auto [at, added] = runs_.try_emplace(&run, 0);
        if (added) {
            at->second = set_.changes.run(run.offset, run.length, run.checksums).run;
            set_.data.push_back(data.share());
        }
        visit(before, part, ChangeWriter::Data{at->second, offset});
        before += part;
        return Status::ok();
    };
    (void)static_cast<const FileRun &>(*data.block().backing())
        .for_each(data.offset(), length, name)
        .is_ok();
}

// Writes one range for each object or region that the entries lie in: another process binds each of
// them by itself.
Status FileTransaction::hold(CdNumber cd, std::span<const Entry *const> entries) {
    set_.cds.insert(cd);
    Range rest = {entries.front()->range.begin, entries.back()->range.end};
    for (auto entry = entries.begin(); !rest.empty();) {
        Range part = rest;
        bool added_anew = false;
        StoredKey key;
        if (Status status = store_.find_key_of_first(cd, part, set_.unnamed[cd], key, added_anew);
            !status) {
            return status;
        }
        set_.names.insert(key.name);
        const uint64_t offset = key.offset;
        while (!part.empty()) {
            const Range held = {part.begin, std::min(part.end, (*entry)->range.end)};
            key.offset = offset + (held.begin - rest.begin);
            hold_part(cd, **entry, held, key, added_anew);
            entry += held.end == (*entry)->range.end ? 1 : 0;
            part.begin = held.end;
        }
        rest.begin = part.end;
    }
    return Status::ok();
}

void FileTransaction::hold_part(CdNumber cd, const Entry &entry, Range part, StoredKey key,
                                bool added_anew) {
    const ChangeWriter::Labels labels = {entry.access, entry.scope, entry.restoration, false,
                                         added_anew};
    if (!entry.data) {
        set_.changes.hold(cd, part, labels, key, {});
        return;
    }
    const uint64_t offset = key.offset;
    for_each_run(entry.data.share(part.begin - entry.range.begin), part.length(),
                 [&](size_t before, size_t length, ChangeWriter::Data at) {
                     key.offset = offset + before;
                     const uintptr_t begin = part.begin + before;
                     set_.changes.hold(cd, {begin, begin + length}, labels, key, at);
                 });
}

void FileTransaction::replace_data(CdNumber cd, Range range, const Piece &data) {
    set_.cds.insert(cd);
    for_each_run(data, range.length(), [&](size_t before, size_t length, ChangeWriter::Data at) {
        const uintptr_t begin = range.begin + before;
        set_.changes.data(cd, {begin, begin + length}, at);
    });
}

void FileTransaction::relabel(CdNumber cd, Range range, addr_type access, Restoration restoration) {
    set_.cds.insert(cd);
    set_.changes.relabel(cd, range, access, restoration);
}

void FileTransaction::promote(CdNumber cd, Range range) {
    set_.cds.insert(cd);
    set_.changes.promote(cd, range);
}

void FileTransaction::demote(CdNumber cd) {
    set_.cds.insert(cd);
    set_.changes.demote(cd);
}

void FileTransaction::erase(CdNumber cd, Range range) {
    set_.cds.insert(cd);
    set_.changes.erase(cd, range);
}

void FileTransaction::give(CdNumber child, CdNumber parent, Range range, bool keeps) {
    set_.cds.insert(child);
    set_.cds.insert(parent);
    set_.changes.give(child, parent, range, keeps);
}

void FileTransaction::files(CdNumber cd, const std::vector<FilePosition> &files) {
    set_.cds.insert(cd);
    set_.changes.files(cd, files);
}

void FileTransaction::epoch(CdNumber cd, uint64_t epoch) {
    set_.cds.insert(cd);
    set_.changes.epoch(cd, epoch);
}

bool FileTransaction::retains() const { return store_.retains(); }

void FileTransaction::retain(std::vector<Piece> data) {
    set_.retained = std::move(data);
    set_.changes.retain(static_cast<uint64_t>(store_.options().older_kept));
}

void FileTransaction::make_known(CdNumber cd) {
    set_.cds.insert(cd);
    set_.makes_known = true;
}

// Writes nothing for a CD that the file does not know.
void FileTransaction::drop(CdNumber cd) {
    set_.dropped.insert(cd);
    if (set_.cds.contains(cd) || store_.is_written(cd)) {
        set_.cds.insert(cd);
        set_.changes.drop(cd);
    }
}

void FileTransaction::bind(CdNumber cd, uint64_t space, Range old, uintptr_t address) {
    set_.binds.bind(cd, space, old, address);
}

Status FileTransaction::force_data() {
    Status flushed = writer_.flush();
    under_way_.clear();
    const bool forces = flushed.is_ok() && writer_.has_written() && store_.options().forced;
    return forces ? store_.volume().forcing().force(begun_) : flushed;
}

Status FileTransaction::commit(CommitVote *last_vote) {
    Status ready = force_data();
    if (last_vote != nullptr) {
        ready = ready ? store_.check_ready() : ready;
        ready = last_vote->vote(ready);
    }
    return ready ? store_.commit(set_) : ready;
}

} // namespace cd
