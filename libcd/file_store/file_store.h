// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/persistence.h"
#include "file_store/allocator.h"
#include "file_store/change_encoder.h"
#include "file_store/directory.h"
#include "file_store/journal.h"
#include "file_store/transaction.h"

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cd {

// Names what lies at an address so that another process finds it.
class Addresses {
public:
    virtual ~Addresses() = default;
    // Shortens `range` to its first bytes that lie in one object, in one named region, or in
    // neither: `name` then is of kind path. `key` gets their offset, and the length of a region.
    // Fails for data of an object without build-id. May throw std::bad_alloc.
    virtual Status describe(Range &range, StoredName &name, StoredKey &key) = 0;
};

struct FileStoreOptions {
    bool forced = true;      // data and metadata reach the disk before they count
    bool checksummed = true; // data have checksums; metadata always have
    int older_kept = 0;      // points in time of the root beside the newest
};

// A PersistentStore in one file.
class FileStore : public PersistentStore {
public:
    // Followed by create_empty() or take_over(). file: locked, in directory.
    FileStore(File file, uint64_t size, Directory directory, std::string name,
              FileStoreOptions options, Addresses &addresses);
    ~FileStore() override;

    // Writes the first metadata of a new file. May throw std::bad_alloc.
    Status create_empty(const Superblock &identity);
    // Gives the file its name, which another store may have. May throw std::bad_alloc.
    Status publish(bool replaces) {
        return directory_.publish(name_, volume_.file(), replaces, options_.forced);
    }

    // Continues in a file that was loaded. pieces: gets the data of each run of the state, by its
    // number. May throw std::bad_alloc.
    using Pieces = std::vector<Piece>;
    void take_over(const Loaded &loaded, Pieces &pieces);

    // Writes the state that take_over() got to the file, as the first change does otherwise. May
    // throw std::bad_alloc.
    Status rewrite();

    void keep_aside(std::string name) { aside_ = std::move(name); }

    // Holds what the file says now, to be read later. Must end before the store.
    HeldMetadata hold_metadata();
    bool forces() const { return options_.forced; }
    const Directory &directory() const { return directory_; }

    const char *path() override { return volume_.file().path(); }

    std::unique_ptr<Transaction> begin() override;
    void announce(CdNumber cd, CdNumber parent, int depth, int sibling,
                  const std::string &path) override;
    bool precedes_known(CdNumber cd) override;
    void withdraw(CdNumber cd) noexcept override;
    bool knows_object(const std::string &name) override;
    CdNumber next_number() override;
    Status check_readable() override { return volume_.check_file(); }
    void leave_to_parent() noexcept override { volume_.leave_to_parent(); }
    bool is_of_this_process() const noexcept override { return volume_.is_of_this_process(); }
    Status remove(CommitVote *last_vote) override;
    uint64_t add_index(CdNumber cd) override;
    void propose(std::unique_ptr<Transaction> binds, CdNumber cd, OrderedRanges ordered) override;
    void accept_proposed() noexcept override;
    void reject_proposed() noexcept override;
    void forget_aside() noexcept override;
    uint64_t wasted_room() const noexcept override { return volume_.usage().wasted(); }
    bool wastes_room(uint64_t &accepted) const noexcept override {
        return volume_.usage().is_wasteful(accepted);
    }

    // ---- For its transactions ----

    Volume &volume() { return volume_; }
    const FileStoreOptions &options() const { return options_; }
    uint64_t space() const { return space_; }
    // Fails in a forked process, and if the file is not as it was.
    Status check_file();
    // True if older points in time are wanted, or are left of a process that wanted them.
    bool retains();
    bool is_written(CdNumber cd);
    // Cuts `range` down to its first bytes that have one name, and returns that. unnamed: how many
    // ranges of the CD the transaction has had that only their add order tells apart; counts this
    // one if it is one. May throw std::bad_alloc.
    Status find_key_of_first(CdNumber cd, Range &range, uint64_t &unnamed, StoredKey &key,
                             bool &added_anew);
    // Fails if commit() would, as far as is known before.
    Status check_ready();
    // Writes the changes down; all of them count then, or none. May throw std::bad_alloc.
    Status commit(ChangeSet &set);

private:
    struct Known {
        StoredCd cd;
        bool written = false;   // the file knows it
        uint64_t add_index = 0; // of the next range that only its add order tells from others
    };
    struct Proposed {
        ChangeWriter binds;
        CdNumber cd = 0;
        OrderedRanges ordered;
    };
    using Place = std::pair<CdNumber, int>; // parent and sibling index
    using NameKey = std::pair<uint8_t, std::string>;
    // CDs that the file gets to know by a commit.
    struct NewCds {
        std::set<CdNumber> numbers;
        std::set<Place> places;
    };

    Status check_process();
    uint64_t number_of(const StoredName &name);
    bool key_of_proposed(CdNumber cd, Range range, StoredKey &key, bool &added_anew) const;
    Status make_ready();
    Status write(ChangeSet &set, NewCds &added);
    void forget(std::map<CdNumber, Known>::iterator cd) noexcept;
    void count_as_written(const ChangeSet &set, NewCds &added) noexcept;
    NewCds find_new(const ChangeSet &set) const;
    void write_names(const ChangeSet &set, const NewCds &added, ChangeWriter &into) const;

    Volume volume_;
    Directory directory_;
    std::string name_;
    std::string aside_; // a file that goes with the first new point in time
    FileStoreOptions options_;
    Addresses &addresses_;
    uint64_t space_ = 1;
    std::atomic<uint64_t> next_number_ = 1;

    std::mutex mutex_; // guards what follows
    Journal journal_;
    std::map<CdNumber, Known> cds_;
    std::map<Place, CdNumber> unwritten_; // CDs that the file does not know
    std::set<Place> written_;             // CDs that it knows, without the root
    std::map<NameKey, uint64_t> names_;
    std::map<uint64_t, StoredName> names_by_number_;
    ChangeWriter binds_;
    Proposed proposed_;
    std::list<std::vector<Piece>> retained_; // oldest first
    std::vector<Piece> suspect_;             // data of a record that failed and may come back
};

} // namespace cd
