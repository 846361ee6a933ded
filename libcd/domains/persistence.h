// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "ranges/entry.h"
#include "ranges/file_table.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace cd {

// Identifies a CD of a family in its store. The root is 0.
using CdNumber = uint64_t;

// An unnamed range of an add call, which a restarted program finds by its place in the add order.
struct OrderedRange {
    uintptr_t end;
    uint64_t add_index;
    bool added_anew; // ranges of later adds are pending, and none for this one
};
// By their begin. No two overlap.
using OrderedRanges = std::map<uintptr_t, OrderedRange>;

// Lets all ranks of a root decide together whether an operation takes effect.
class CommitVote {
public:
    virtual ~CommitVote() = default;

    // Reports this rank's result and returns the common one, which counts. Called once at most.
    virtual Status vote(Status own) noexcept = 0;
};

// Stored data. The caller owns the piece.
struct StoredPart {
    const Piece *data;
    size_t length;
};

// Writes one operation on CDs to their store: first the data and the changes, then commit(). After
// commit() the operation takes effect in memory, where it cannot fail any more. A transaction that
// ends without commit() has not happened.
//
// Ranges are addresses of this process. Unless stated otherwise, a function changes the bytes of
// range that the CD holds. All functions may throw std::bad_alloc.
class Transaction {
public:
    virtual ~Transaction() = default;

    // Stores the bytes that are in memory now. `place`: the entry's next_data, which is used again
    // if nobody else has it, else replaced.
    virtual Status keep(Range memory, Piece &place) = 0;
    // Copies stored parts into one new place. `place` stays empty if a part cannot be read, or
    // there is no room.
    virtual Status copy(std::span<const StoredPart> parts, Piece &place) = 0;

    // Adds a range that the CD does not hold. `entries` lie side by side and have its labels and
    // data.
    virtual Status hold(CdNumber cd, std::span<const Entry *const> entries) = 0;
    // Makes held bytes COPY, with these data.
    virtual void replace_data(CdNumber cd, Range range, const Piece &data) = 0;
    virtual void relabel(CdNumber cd, Range range, addr_type access, Restoration restoration) = 0;
    // Makes the bytes READ_WRITE, except REGEN bytes.
    virtual void promote(CdNumber cd, Range range) = 0;
    // Makes all bytes of the CD READ_ONLY.
    virtual void demote(CdNumber cd) = 0;
    virtual void erase(CdNumber cd, Range range) = 0;
    // Gives bytes with their data to the parent, which does not hold them. `keeps`: the child keeps
    // them too.
    virtual void give(CdNumber child, CdNumber parent, Range range, bool keeps) = 0;
    // Replaces the CD's file positions.
    virtual void files(CdNumber cd, const std::vector<FilePosition> &files) = 0;
    virtual void epoch(CdNumber cd, uint64_t epoch) = 0;
    // Keeps the root's present point in time as an older one, if the store keeps such (retains()).
    // Call it before any change. `data`: all data of the root.
    virtual bool retains() const = 0;
    virtual void retain(std::vector<Piece> data) = 0;
    // Records the CD even if it holds nothing.
    virtual void make_known(CdNumber cd) = 0;
    // Removes the CD.
    virtual void drop(CdNumber cd) = 0;
    // Records that bytes which another process added at `old`, in its address space, are at address
    // in this process. Written with the next transaction that changes data, labels or files.
    virtual void bind(CdNumber cd, uint64_t space, Range old, uintptr_t address) = 0;

    // `last_vote` decides after all that is likely to fail; nullptr: nobody else does.
    virtual Status commit(CommitVote *last_vote) = 0;
    Status commit() { return commit(nullptr); }
};

// The store of a family of CDs, in which they outlive the process. Thread-safe.
class PersistentStore {
public:
    virtual ~PersistentStore() = default;

    // Returns the store's path, for messages. Valid while the store lives.
    virtual const char *path() = 0;

    virtual std::unique_ptr<Transaction> begin() = 0;

    // Makes a new CD known to transactions. Nothing is written before the CD, or a sibling with a
    // greater index, holds something. `path` distinguishes the CD from those created at other
    // times.
    virtual void announce(CdNumber cd, CdNumber parent, int depth, int sibling,
                          const std::string &path) = 0;

    // True if a sibling with a greater index is in the store and the CD is not: a restarted program
    // would take the sibling for this CD.
    virtual bool precedes_known(CdNumber cd) = 0;

    // Takes announce() back: the creation of the CD has failed.
    virtual void withdraw(CdNumber cd) noexcept = 0;

    // True if the store has bytes of a loaded object (its file's name and build-id).
    virtual bool knows_object(const std::string &name) = 0;

    // Returns a number that no CD of the family has had.
    virtual CdNumber next_number() = 0;

    // Fails if data cannot be read: the file was replaced, or belongs to another process.
    virtual Status check_readable() = 0;

    // Ends the use of the store in a forked process.
    virtual void leave_to_parent() noexcept = 0;
    virtual bool is_of_this_process() const noexcept = 0;

    // Removes the whole store, if `last_vote` agrees; nullptr: nobody else decides.
    virtual Status remove(CommitVote *last_vote) = 0;

    // Returns how many unnamed ranges a CD has added in this process. The commit after hold()
    // counts them, unless propose() has.
    virtual uint64_t add_index(CdNumber cd) = 0;

    // Writes `binds` with the next transaction, and drops it unless that is accepted: an add call
    // that fails has bound nothing. `ordered`: the unnamed ranges that the call adds to the CD,
    // with the add indexes that hold() gives them. No other transaction of the family is committed
    // until the change is accepted or rejected. May throw std::bad_alloc.
    virtual void propose(std::unique_ptr<Transaction> binds, CdNumber cd,
                         OrderedRanges ordered) = 0;
    virtual void accept_proposed() noexcept = 0;
    virtual void reject_proposed() noexcept = 0;

    // Returns the unused bytes in sparse places, of which only a small part is used.
    virtual uint64_t wasted_room() const noexcept = 0;
    // True if much more room is wasted than `accepted`, so that free_sparse_places() pays. Lowers
    // `accepted` to the present waste.
    virtual bool wastes_room(uint64_t &accepted) const noexcept = 0;

    // The pending ranges of the family. Guarded by the locks of all its CDs, but may be compared
    // with 0 without them.
    std::atomic<size_t> pending = 0;
    // A warning about files that were not added again has been printed.
    std::atomic<bool> warned_of_files = false;

    // Removes the older store that a fresh start has kept aside. Call it after the root's first
    // advance.
    virtual void forget_aside() noexcept = 0;
};

} // namespace cd
