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

// Which CD of a family, for a store; the root is 0.
using CdNumber = uint64_t;

// The ranges of an add call that only their order tells from others, by their begin; no two
// overlap.
struct OrderedRange {
    uintptr_t end;
    uint64_t add_index;
    bool added_anew; // others that come later wait, and nothing for this one
};
using OrderedRanges = std::map<uintptr_t, OrderedRange>;

// Who else an operation depends on.
class CommitVote {
public:
    virtual ~CommitVote() = default;

    // Called once at most. own: whether it can be done here; the other outcome counts.
    virtual Status vote(Status own) noexcept = 0;
};

// Data that are stored; who names them keeps the piece.
struct StoredPart {
    const Piece *data;
    size_t length;
};

// One operation on CDs that outlive their process, as it is written down: first the data and what
// the operation changes, then commit(). Before the operation itself takes effect, which then cannot
// fail any more. A transaction that ends without commit() has not happened.
//
// Ranges are those of this process. What is said of a range concerns the bytes of it that the CD
// holds, unless it says otherwise. Everything may throw std::bad_alloc.
class Transaction {
public:
    virtual ~Transaction() = default;

    // Stores the bytes that are in memory now. place: what the entry had for its next data; it is
    // used again if nobody else has it, else replaced.
    virtual Status keep(Range memory, Piece &place) = 0;
    // Stores again what is stored, in one place. That stays empty if some of it cannot be read, or
    // there is no room.
    virtual Status copy(std::span<const StoredPart> parts, Piece &place) = 0;

    // The CD gets a range that it does not hold, as entries have it, side by side.
    virtual Status hold(CdNumber cd, std::span<const Entry *const> entries) = 0;
    // Held bytes are COPY, with these data.
    virtual void replace_data(CdNumber cd, Range range, const Piece &data) = 0;
    virtual void relabel(CdNumber cd, Range range, addr_type access, Restoration restoration) = 0;
    // Makes READ_WRITE what is not regenerated.
    virtual void promote(CdNumber cd, Range range) = 0;
    // Makes everything READ_ONLY.
    virtual void demote(CdNumber cd) = 0;
    virtual void erase(CdNumber cd, Range range) = 0;
    // The parent, which does not hold these bytes, gets them with their data; keeps: the child
    // keeps them too.
    virtual void give(CdNumber child, CdNumber parent, Range range, bool keeps) = 0;
    virtual void files(CdNumber cd, const std::vector<FilePosition> &files) = 0;
    virtual void epoch(CdNumber cd, uint64_t epoch) = 0;
    // The root's point in time until now stays as an older one, if the store keeps such. Before
    // anything else of the transaction. data: all that the root has.
    virtual bool retains() const = 0;
    virtual void retain(std::vector<Piece> data) = 0;
    // The CD is found again also if it holds nothing.
    virtual void make_known(CdNumber cd) = 0;
    // The CD is no more.
    virtual void drop(CdNumber cd) = 0;
    // Bytes that another process added as old, in its address space, are at address in this one.
    // Changes nothing that another process would find, so it is written down with the
    // next transaction that does.
    virtual void bind(CdNumber cd, uint64_t space, Range old, uintptr_t address) = 0;

    // last_vote: asked when all is done that is likely to fail, unless it is nullptr.
    virtual Status commit(CommitVote *last_vote) = 0;
    Status commit() { return commit(nullptr); }
};

// Where a family of CDs is written down. One for a family; thread-safe.
class PersistentStore {
public:
    virtual ~PersistentStore() = default;

    // Where that is, for messages. As long as the store lives.
    virtual const char *path() = 0;

    virtual std::unique_ptr<Transaction> begin() = 0;

    // Makes a number known to transactions; nothing is written before the CD, or a sibling with a
    // greater index, holds something. path tells the CD from those that the program creates at
    // other times.
    virtual void announce(CdNumber cd, CdNumber parent, int depth, int sibling,
                          const std::string &path) = 0;

    // Whether a sibling with a greater index is written down already, while the CD is not: a
    // process that comes later would take that for this one.
    virtual bool precedes_known(CdNumber cd) = 0;

    // The CD was not made after all.
    virtual void withdraw(CdNumber cd) noexcept = 0;

    // Whether anything was ever said of an object (its file's name and build-id).
    virtual bool knows_object(const std::string &name) = 0;

    // A number that no CD of the family has had.
    virtual CdNumber next_number() = 0;

    // Before data are read: that they still are where they were, and belong to this process.
    virtual Status check_readable() = 0;

    // In a process that was forked, which cannot use the store.
    virtual void leave_to_parent() noexcept = 0;
    virtual bool is_of_this_process() const noexcept = 0;

    // The family ends: nothing of it is found again. last_vote: asked when all is done that can
    // fail, if given; what it refuses has not happened.
    virtual Status remove(CommitVote *last_vote) = 0;

    // How many ranges a CD has added in this process that only their order tells from others. What
    // hold() writes down is counted by its commit, unless propose() has counted it.
    virtual uint64_t add_index(CdNumber cd) = 0;

    // Writes `binds` down with the next transaction, and drops it unless that is accepted: an add
    // call that fails has bound nothing. ordered: what the call adds to the CD; entries passed to
    // hold() of these keep their add indexes. Until the change is accepted or rejected, no other
    // transaction of the family is committed. May throw std::bad_alloc.
    virtual void propose(std::unique_ptr<Transaction> binds, CdNumber cd,
                         OrderedRanges ordered) = 0;
    virtual void accept_proposed() noexcept = 0;
    virtual void reject_proposed() noexcept = 0;

    // Bytes of places that are kept by what little is left in them: those are sparse.
    virtual uint64_t wasted_room() const noexcept = 0;
    // Whether that is so much more than was accepted, which becomes no more than there is, that
    // what is left should be copied.
    virtual bool wastes_room(uint64_t &accepted) const noexcept = 0;

    // Ranges of the family that no add has bound yet. Guarded by the locks of all its CDs; whether
    // it is 0 can be read without them.
    std::atomic<size_t> pending = 0;
    // Whether the program was told that it has not added all files again.
    std::atomic<bool> told_of_files = false;

    // To be called when the root's first new point in time is there: what was kept aside of an
    // older store goes.
    virtual void forget_aside() noexcept = 0;
};

} // namespace cd
