// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/file_store.h"

#include "base/no_throw.h"
#include "file_store/stored_data.h"

#include <algorithm>
#include <array>
#include <new>

namespace cd {
FileStore::FileStore(File file, uint64_t size, Directory directory, std::string name,
                     FileStoreOptions options, Addresses &addresses)
    : volume_(std::move(file), size), directory_(std::move(directory)), name_(std::move(name)),
      options_(options), addresses_(addresses), journal_(volume_, options.forced) {}

// Releases the pieces first: they give their extents back to the volume.
FileStore::~FileStore() { retained_.clear(); }

Status FileStore::create_empty(const Superblock &identity) {
    // Fills the places of both headers.
    if (Status status = volume_.file().write_zeros(0, format::first_extent); !status) {
        return status;
    }
    ChangeWriter changes;
    StoredCd root;
    changes.name(0, {format::NameKind::path, ""});
    changes.cd(root);
    changes.space(space_);
    cds_[State::root] = {root, true, 0};
    names_[{static_cast<uint8_t>(format::NameKind::path), ""}] = 0;
    names_by_number_[0] = {format::NameKind::path, ""};
    return journal_.create(identity, changes.bytes().bytes());
}

void FileStore::take_over(const Loaded &loaded, Pieces &pieces) {
    const State &state = loaded.state;
    std::vector<Extent> taken = loaded.extents;
    if (loaded.older.generation != 0) {
        for (const Extent &extent : loaded.older.places()) {
            taken.insert(std::ranges::upper_bound(taken, extent.offset, {}, &Extent::offset),
                         extent);
        }
    }
    pieces.resize(state.runs->size());
    const auto piece_of = [&](const StoredRun &run) -> const Piece & {
        Piece &piece = pieces[run.number];
        if (!piece) {
            auto backing = std::make_unique<FileRun>(volume_, FileRun::Runs(1, run), 0);
            Block *block = Block::create_backed(std::move(backing), run.length);
            if (block == nullptr) {
                throw std::bad_alloc();
            }
            piece = Piece::adopt(*block, 0);
        }
        return piece;
    };
    for (const auto &[number, cd] : state.cds) {
        StoredCd without_entries = {cd.number, cd.parent, cd.depth, cd.sibling,
                                    cd.path,   cd.epoch,  {},       cd.files};
        cds_[number] = {std::move(without_entries), true, 0};
        if (number != State::root) {
            written_.insert({cd.parent, cd.sibling});
        }
        next_number_ = std::max(next_number_.load(), number + 1);
        for (const auto &[place, entry] : cd.entries) {
            if (entry.run != nullptr) {
                piece_of(*entry.run).block().backing()->use(entry.end - place.begin);
            }
        }
    }
    for (const StoredVersion &version : state.versions) {
        std::vector<Piece> &kept = retained_.emplace_back();
        for (const auto &[place, entry] : version.entries) {
            if (entry.run != nullptr) {
                kept.push_back(piece_of(*entry.run).share());
            }
        }
    }
    volume_.only_these_are_taken(format::first_extent, taken);
    for (const auto &[number, name] : state.names) {
        names_[{static_cast<uint8_t>(name.kind), name.text}] = number;
        names_by_number_[number] = name;
    }
    space_ = state.space + 1;
    journal_.take_over(loaded);
}

HeldMetadata FileStore::hold_metadata() {
    const std::scoped_lock lock(mutex_);
    return journal_.hold();
}

Status FileStore::rewrite() {
    const std::scoped_lock lock(mutex_);
    return journal_.rebase();
}

std::unique_ptr<Transaction> FileStore::begin() { return std::make_unique<FileTransaction>(*this); }

CdNumber FileStore::next_number() { return next_number_++; }

void FileStore::announce(CdNumber cd, CdNumber parent, int depth, int sibling,
                         const std::string &path) {
    StoredCd stored;
    stored.number = cd;
    stored.parent = parent;
    stored.depth = depth;
    stored.sibling = sibling;
    const std::scoped_lock lock(mutex_);
    stored.path = number_of({format::NameKind::path, path});
    cds_[cd] = {std::move(stored), false, 0};
    unwritten_[{parent, sibling}] = cd;
}

bool FileStore::precedes_known(CdNumber cd) {
    const std::scoped_lock lock(mutex_);
    const Known &known = cds_.at(cd);
    const auto younger = written_.upper_bound({known.cd.parent, known.cd.sibling});
    return !known.written && younger != written_.end() && younger->first == known.cd.parent;
}

void FileStore::withdraw(CdNumber cd) noexcept {
    const std::scoped_lock lock(mutex_);
    if (const auto at = cds_.find(cd); at != cds_.end()) {
        forget(at);
    }
}

void FileStore::forget(std::map<CdNumber, Known>::iterator cd) noexcept {
    const Known &known = cd->second;
    const Place place = {known.cd.parent, known.cd.sibling};
    if (!known.written) {
        unwritten_.erase(place);
    } else if (cd->first != State::root) {
        written_.erase(place);
    }
    cds_.erase(cd);
}

bool FileStore::knows_object(const std::string &name) {
    const std::scoped_lock lock(mutex_);
    return std::ranges::any_of(std::array{format::NameKind::object, format::NameKind::program},
                               [&](auto kind) {
                                   return names_.contains({static_cast<uint8_t>(kind), name});
                               });
}

uint64_t FileStore::number_of(const StoredName &name) {
    const NameKey key = {static_cast<uint8_t>(name.kind), name.text};
    const auto at = names_.find(key);
    if (at != names_.end()) {
        return at->second;
    }
    const uint64_t number = names_by_number_.empty() ? 0 : names_by_number_.rbegin()->first + 1;
    names_by_number_[number] = name;
    names_[key] = number;
    return number;
}

Status FileStore::find_key_of_first(CdNumber cd, Range &range, uint64_t &unnamed, StoredKey &key,
                                    bool &added_anew) {
    StoredName name;
    if (Status status = addresses_.describe(range, name, key); !status) {
        return status;
    }
    const std::scoped_lock lock(mutex_);
    if (name.kind != format::NameKind::path) {
        key.name = number_of(name);
    } else if (!key_of_proposed(cd, range, key, added_anew)) {
        const Known &known = cds_.at(cd);
        key = {known.cd.path, known.add_index + unnamed++, 0, range.length()};
    }
    return Status::ok();
}

uint64_t FileStore::add_index(CdNumber cd) {
    const std::scoped_lock lock(mutex_);
    return cds_.at(cd).add_index;
}

void FileStore::propose(std::unique_ptr<Transaction> binds, CdNumber cd, OrderedRanges ordered) {
    const std::scoped_lock lock(mutex_);
    ChangeWriter &proposed = static_cast<FileTransaction &>(*binds).binds();
    binds_.bytes().reserve_room(proposed.bytes().size());
    cds_.at(cd).add_index += ordered.size();
    proposed_ = {std::move(proposed), cd, std::move(ordered)};
}

// Keeps binds that no transaction has written down for the next one.
void FileStore::accept_proposed() noexcept {
    const std::scoped_lock lock(mutex_);
    binds_.add(proposed_.binds);
    proposed_ = {};
}

void FileStore::reject_proposed() noexcept {
    const std::scoped_lock lock(mutex_);
    cds_.find(proposed_.cd)->second.add_index -= proposed_.ordered.size();
    proposed_ = {};
}

// False if the range lies in none that is proposed.
bool FileStore::key_of_proposed(CdNumber cd, Range range, StoredKey &key, bool &added_anew) const {
    const auto behind = proposed_.ordered.upper_bound(range.begin);
    if (proposed_.cd != cd || behind == proposed_.ordered.begin()) {
        return false;
    }
    const auto &[begin, whole] = *std::prev(behind);
    if (whole.end < range.end) {
        return false;
    }
    key = {cds_.at(cd).cd.path, whole.add_index, range.begin - begin, whole.end - begin};
    added_anew = whole.added_anew;
    return true;
}

bool FileStore::is_written(CdNumber cd) {
    const std::scoped_lock lock(mutex_);
    return cds_.at(cd).written;
}

// Two processes that write to one file destroy it: each has its own list of what is free.
Status FileStore::check_process() {
    if (is_of_this_process()) {
        return Status::ok();
    }
    return fail(CD_ERROR_STORE_FORKED,
                "%s: the store belongs to the parent process; only CDs without children can be "
                "restored; for other calls commit the root here and create another",
                path());
}

Status FileStore::check_file() {
    Status status = check_process();
    return status ? volume_.check_file() : status;
}

Status FileStore::commit(ChangeSet &set) {
    const std::scoped_lock lock(mutex_);
    std::list<std::vector<Piece>> retained; // made before anything counts
    if (set.retained) {
        retained.push_back(std::move(*set.retained));
    }
    binds_.add(set.binds);
    NewCds added;
    if (!set.changes.empty() || set.makes_known) {
        if (Status status = write(set, added); !status) {
            return status;
        }
    }
    // Points in time of an earlier process stay until the file refers to them no more.
    if (set.retained) {
        retained_.splice(retained_.end(), retained);
        while (retained_.size() > static_cast<size_t>(options_.older_kept)) {
            retained_.pop_front();
        }
    }
    count_as_written(set, added);
    return Status::ok();
}

Status FileStore::check_ready() {
    const std::scoped_lock lock(mutex_);
    return make_ready();
}

Status FileStore::make_ready() {
    Status status = check_process();
    status = status ? volume_.check_file() : status;
    status = status ? directory_.check_name(name_, volume_.file()) : status;
    return status ? journal_.settle() : status;
}

Status FileStore::write(ChangeSet &set, NewCds &added) {
    if (Status status = make_ready(); !status) {
        return status;
    }
    suspect_.clear();
    added = find_new(set);
    ChangeWriter record;
    record.space(space_);
    record.add(binds_);
    record.add(proposed_.binds);
    write_names(set, added, record);
    for (const CdNumber cd : added.numbers) {
        record.cd(cds_.at(cd).cd);
    }
    record.add(set.changes);
    if (Status status = journal_.append(record.bytes().bytes()); !status) {
        if (!journal_.is_settled()) {
            suspect_ = std::move(set.data);
        }
        return status;
    }
    binds_ = {};
    proposed_.binds = {};
    return Status::ok();
}

void FileStore::count_as_written(const ChangeSet &set, NewCds &added) noexcept {
    for (const CdNumber cd : added.numbers) {
        Known &known = cds_.find(cd)->second;
        known.written = true;
        unwritten_.erase({known.cd.parent, known.cd.sibling});
        written_.insert(added.places.extract({known.cd.parent, known.cd.sibling}));
    }
    for (const auto &[cd, count] : set.unnamed) {
        cds_.find(cd)->second.add_index += count;
    }
    for (const CdNumber cd : set.dropped) {
        forget(cds_.find(cd));
    }
}

// Finds the CDs that the record has to introduce, parents first by their numbers. A restarted
// program gets its CDs back in the order of their indices: living siblings with a smaller index are
// written too, even if they hold nothing.
FileStore::NewCds FileStore::find_new(const ChangeSet &set) const {
    NewCds added;
    for (const CdNumber cd : set.cds) {
        for (CdNumber at = cd; !cds_.at(at).written; at = cds_.at(at).cd.parent) {
            added.numbers.insert(at);
            if (set.dropped.contains(at)) {
                continue;
            }
            const StoredCd &stored = cds_.at(at).cd;
            const auto self = unwritten_.find({stored.parent, stored.sibling});
            for (auto elder = unwritten_.lower_bound({stored.parent, 0}); elder != self; ++elder) {
                added.numbers.insert(elder->second);
            }
        }
    }
    for (const CdNumber cd : added.numbers) {
        const StoredCd &stored = cds_.at(cd).cd;
        added.places.insert({stored.parent, stored.sibling});
    }
    return added;
}

// Writes all names that the record uses: a new generation leaves out names that nothing has.
void FileStore::write_names(const ChangeSet &set, const NewCds &added, ChangeWriter &into) const {
    std::set<uint64_t> names = set.names;
    for (const CdNumber cd : added.numbers) {
        names.insert(cds_.at(cd).cd.path);
    }
    for (const uint64_t name : names) {
        into.name(name, names_by_number_.at(name));
    }
}

bool FileStore::retains() {
    const std::scoped_lock lock(mutex_);
    return options_.older_kept > 0 || !retained_.empty();
}

Status FileStore::remove(CommitVote *last_vote) {
    Status hidden = catch_exceptions([&] { return directory_.hide(name_, options_.forced); });
    Status status = last_vote != nullptr ? last_vote->vote(hidden) : hidden;
    if (status) {
        best_effort([&] { directory_.finish_remove(name_); });
        forget_aside();
    } else if (hidden) {
        best_effort([&] { return directory_.undo_remove(name_, options_.forced); });
    }
    return status;
}

// A file that cannot be removed does no harm.
void FileStore::forget_aside() noexcept {
    if (!aside_.empty()) {
        directory_.try_to_remove(aside_, options_.forced);
        aside_.clear();
    }
}

} // namespace cd
