// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/persistence.h"
#include "file_store/allocator.h"
#include "file_store/change_encoder.h"
#include "file_store/directory.h"
#include "file_store/journal.h"

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

class FileTransaction;

// What lies at an address, if that can be said in a way that another process understands.
class Addresses {
public:
    virtual ~Addresses() = default;
    // range becomes as many of its first bytes as belong to one thing, or, false, to none. key:
    // their offset, and of a region the length, which has to be the same in another process. May
    // throw std::bad_alloc.
    virtual bool describe(Range &range, StoredName &name, StoredKey &key, Objects objects) = 0;
};

struct FileStoreOptions {
    bool forced = true;      // data and metadata reach the disk before they count
    bool checksummed = true; // data; metadata always are
    int older_kept = 0;      // points in time of the root beside the newest
};

// The ledger that is one file.
class FileStore : public PersistentStore {
public:
    // To be followed by create_empty() or take_over(). file: locked, in directory.
    FileStore(File file, uint64_t size, Directory directory, std::string name,
              FileStoreOptions options, Addresses &addresses);
    ~FileStore() override;

    // For a new file: writes its first metadata. May throw std::bad_alloc.
    Status create_empty(const Superblock &identity);
    Status publish() { return directory_.publish(name_, volume_.file(), options_.forced); }
    Status replace(); // the store that has the name

    // For a file that was loaded. pieces: gets the data of each run of the state, by its number.
    // May throw std::bad_alloc.
    using Pieces = std::vector<Piece>;
    void take_over(const Loaded &loaded, Pieces &pieces);

    // After take_over(): makes the state what the file says, as the first change does otherwise.
    // May throw std::bad_alloc.
    Status rewrite();

    void keep_aside(std::string name) { aside_ = std::move(name); }

    // What was there before a start made it: nothing, a store that is set aside, by that start or
    // by one before it that never advanced, or this one.
    enum class Before { nothing, set_aside, the_same };
    void comes_after(Before before) { before_ = before; }
    // Where the start fails in another rank: all is as it was before, and before those that never
    // advanced, which need not have come to all ranks.
    void undo_start() noexcept;

    // What the file says now, to be read later. No longer than the store lives.
    HeldMetadata hold_metadata();
    bool forces() const { return options_.forced; }
    const Directory &directory() const { return directory_; }

    const char *path() override { return volume_.file().path(); }
    Volume &volume() { return volume_; }

    std::unique_ptr<Transaction> begin() override;
    void announce(CdNumber cd, CdNumber parent, int depth, int sibling,
                  const std::string &path) override;
    bool precedes_known(CdNumber cd) override;
    void withdraw(CdNumber cd) noexcept override;
    bool knows_object(const std::string &name) override;
    Objects named_objects() const noexcept override { return named_objects_; }
    CdNumber next_number() override;
    Status check_readable() override { return volume_.check_descriptors(); }
    Status check_read(Status read) override;
    void leave_to_parent() noexcept override { volume_.leave_to_parent(); }
    bool is_of_this_process() const noexcept override;
    bool is_lost() const noexcept override;
    Status remove(CommitVote *last_word) override;
    uint64_t ordinal(CdNumber cd) override;
    void propose(std::unique_ptr<Transaction> binds, CdNumber cd, OrderedRanges ordered) override;
    void accept_proposed() noexcept override;
    void reject_proposed() noexcept override;
    void forget_aside() noexcept override;
    uint64_t wasted_room() const noexcept override { return volume_.usage().wasted(); }
    bool wastes_room(uint64_t &accepted) const noexcept override {
        return volume_.usage().is_wasteful(accepted);
    }

private:
    friend class FileTransaction;

    struct Known {
        StoredCd cd;
        bool written = false; // the file knows it
        uint64_t ordinal = 0; // of the next range that only its order tells from others
    };
    struct Proposed {
        Binds binds;
        CdNumber cd = 0;
        OrderedRanges ordered;
    };
    using Place = std::pair<CdNumber, int>; // parent and sibling index
    using NameKey = std::pair<uint8_t, std::string>;

    // Older points in time are wanted, or there are some of a process that wanted them.
    bool retains();
    Status check_process();
    Status regain_name();
    Status hide();
    void show() noexcept;
    uint64_t number_of(const StoredName &name);
    uint64_t number_of_path(CdNumber cd);
    // Of what lies in a range that is proposed; false: it does not.
    bool key_of_proposed(CdNumber cd, Range range, StoredKey &key, bool &added_anew);
    bool is_written(CdNumber cd);
    Status commit(FileTransaction &transaction);
    // Whether nothing is in the way of that, as far as can be told before.
    Status check_ready();
    Status make_ready();
    Status write(FileTransaction &transaction);
    void forget(std::map<CdNumber, Known>::iterator cd) noexcept;
    void count_as_written(FileTransaction &transaction) noexcept;
    void find_unknown(FileTransaction &transaction);
    Growth growth_of(const FileTransaction &transaction) const;
    void write_names(const FileTransaction &transaction, ChangeWriter &into);

    Volume volume_;
    Directory directory_;
    std::string name_;
    std::string aside_; // a file that goes with the first new point in time
    Before before_ = Before::the_same;
    FileStoreOptions options_;
    Objects named_objects_ = Objects::all;
    bool found_unchecked_ = false; // data, when the store was opened
    Addresses &addresses_;
    pid_t process_;
    uint64_t space_ = 1;
    std::atomic<uint64_t> next_number_ = 1;

    std::mutex mutex_; // guards what follows
    Metadata metadata_;
    std::map<CdNumber, Known> cds_;
    std::map<Place, CdNumber> unwritten_; // of these, those that the file does not know
    std::set<Place> written_;             // and those that it knows, without the root
    std::map<NameKey, uint64_t> names_;
    std::map<uint64_t, StoredName> names_by_number_;
    Binds binds_;
    Proposed proposed_;
    std::list<std::vector<Piece>> retained_; // oldest first
    std::vector<Piece> suspect_; // what a record refers to that failed and may come back
    // At most: of operations that failed, which find them when they are tried again.
    std::atomic<size_t> unwritten_splits_ = 0;
    bool nameless_ = false; // the file may have lost its name in a remove() that failed
};

} // namespace cd
