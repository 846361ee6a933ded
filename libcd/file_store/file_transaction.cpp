// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/file_transaction.h"

#include "file_store/file_store.h"

#include <new>
#include <utility>

namespace cd {

FileTransaction::FileTransaction(FileStore &store)
    : store_(store), writer_(store.volume_, store.options_.checksummed, store.options_.forced) {}

Status FileTransaction::keep(Range memory, Piece &place) {
    if (Status status = store_.check_process(); !status) {
        return status;
    }
    // Whoever else has a share of the place may be what the file refers to.
    const bool reusable = place && place.offset() == 0 && place.block().has_one_owner() &&
                          place.block().backing() != nullptr &&
                          place.block().size() == memory.length();
    if (!reusable) {
        if (Status status = new_place(memory.length(), place); !status) {
            return status;
        }
    }
    auto &run = static_cast<FileRun &>(*place.block().backing());
    Checksums checksums;
    Status status =
        writer_.write(run.stored().offset, memory.address(), memory.length(), checksums);
    run.set_checksums(std::move(checksums));
    return status;
}

Status FileTransaction::new_place(size_t length, Piece &place) {
    Extent extent;
    if (Status status = store_.volume_.reserve(length, extent); !status) {
        return status;
    }
    auto run = std::unique_ptr<Backing>(new (std::nothrow)
                                            FileRun(store_.volume_, {extent.offset, length, {}}));
    if (run == nullptr) {
        store_.volume_.release(extent);
        throw std::bad_alloc();
    }
    Block *block = Block::create_backed(std::move(run), length);
    if (block == nullptr) {
        throw std::bad_alloc();
    }
    place = Piece::adopt(*block, 0);
    return Status::ok();
}

ChangeWriter::Data FileTransaction::written(const Piece &piece) {
    const auto &run = static_cast<const FileRun &>(*piece.block().backing());
    const auto [at, added] = runs_.try_emplace(&run, 0);
    if (added) {
        const StoredRun &stored = run.stored();
        at->second = changes_.run(stored.offset, stored.length, stored.checksums).run;
        named_.push_back(piece.share());
    }
    return {at->second, piece.offset()};
}

void FileTransaction::hold(CdNumber cd, const Entry &entry) {
    StoredKey key;
    StoredName name;
    if (store_.addresses_.describe(entry.range, name, key)) {
        key.name = store_.number_of(name);
    } else {
        const uint64_t ordinal = store_.ordinal(cd) + ordered_[cd]++;
        key = {store_.number_of_path(cd), ordinal, 0, entry.range.length()};
    }
    names_.insert(key.name);
    cds_.insert(cd);
    const ChangeWriter::Data data = entry.data ? written(entry.data) : ChangeWriter::Data();
    changes_.hold(cd, entry.range, {entry.access, entry.scope, entry.restoration}, key, data);
}

void FileTransaction::replace_data(CdNumber cd, Range range, const Piece &data) {
    cds_.insert(cd);
    const ChangeWriter::Data at = written(data);
    changes_.data(cd, range, at);
}

void FileTransaction::relabel(CdNumber cd, Range range, addr_type access, Restoration restoration) {
    cds_.insert(cd);
    changes_.relabel(cd, range, access, restoration);
}

void FileTransaction::promote(CdNumber cd, Range range) {
    cds_.insert(cd);
    changes_.promote(cd, range);
}

void FileTransaction::demote(CdNumber cd) {
    cds_.insert(cd);
    changes_.demote(cd);
}

void FileTransaction::erase(CdNumber cd, Range range) {
    cds_.insert(cd);
    changes_.erase(cd, range);
}

void FileTransaction::give(CdNumber child, CdNumber parent, Range range, bool keeps) {
    cds_.insert(child);
    cds_.insert(parent);
    changes_.give(child, parent, range, keeps);
}

void FileTransaction::files(CdNumber cd, const std::vector<FilePosition> &files) {
    cds_.insert(cd);
    changes_.files(cd, files);
}

void FileTransaction::epoch(CdNumber cd, uint64_t epoch) {
    cds_.insert(cd);
    changes_.epoch(cd, epoch);
}

bool FileTransaction::retains() const { return store_.retains(); }

void FileTransaction::retain(std::vector<Piece> data) {
    retaining_ = true;
    retained_ = std::move(data);
    changes_.retain(static_cast<uint64_t>(store_.options_.older_kept));
}

void FileTransaction::make_known(CdNumber cd) {
    cds_.insert(cd);
    makes_known_ = true;
}

// What the file has never heard of need not be taken out of it.
void FileTransaction::drop(CdNumber cd) {
    dropped_.insert(cd);
    if (cds_.contains(cd) || store_.is_written(cd)) {
        cds_.insert(cd);
        changes_.drop(cd);
    }
}

void FileTransaction::bind(CdNumber cd, uint64_t space, Range old, uintptr_t address,
                           size_t entries) {
    binds_.changes.bind(cd, space, old, address);
    binds_.entries += entries;
}

void FileTransaction::give_unbound(CdNumber child, CdNumber parent, uint64_t space, Range old) {
    changes_.space(space);
    give(child, parent, old, false);
    changes_.space(store_.space_);
}

Status FileTransaction::commit() {
    if (Status status = writer_.flush(); !status) {
        return status;
    }
    if (writer_.has_written() && store_.options_.forced) {
        if (Status status = store_.volume_.file().sync_data(); !status) {
            return status;
        }
    }
    return store_.commit(*this);
}

} // namespace cd
