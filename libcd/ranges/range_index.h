// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "ranges/entry.h"
#include "ranges/entry_pool.h"

#include <absl/container/btree_map.h>

#include <cstdint>
#include <functional>
#include <utility>

namespace cd {

// The entries of one CD in order of address, never overlapping. Finding and inserting cost
// O(log n), or O(1) next to a position that the caller already has.
//
// Owns its entries. Only insert() and split() can fail (std::bad_alloc, no byte changed); erasing
// and merging cannot, which is what makes operations all-or-nothing: they first split and insert,
// then relabel and erase. Positions are invalid after any insertion, split or removal.
class RangeIndex {
    using Map = absl::btree_map<uintptr_t, Entry *, std::less<>,
                                ReserveAllocator<std::pair<const uintptr_t, Entry *>>>;

public:
    using Position = Map::const_iterator;

    RangeIndex() = default;
    RangeIndex(const RangeIndex &) = delete;
    RangeIndex &operator=(const RangeIndex &) = delete;
    ~RangeIndex() { clear(); }

    Position begin() const { return entries_.begin(); }
    Position end() const { return entries_.end(); }
    bool empty() const { return entries_.empty(); }
    size_t size() const { return entries_.size(); }

    // The first entry that ends behind address.
    Position find(uintptr_t address) const { return find_near(entries_.end(), address); }

    // The same, in O(1) when the answer is near or one behind it.
    Position find_near(Position near, uintptr_t address) const;

    // An entry for this index or, once its owner has taken this one over, for that one. May throw
    // std::bad_alloc.
    EntryPool::Pointer make_entry() { return pool_.make(); }

    // Takes ownership; entry must not overlap another. where: the first entry behind it.
    Position insert(Position where, Entry *entry);

    // As insert(), and marks entry as arriving.
    Position insert_arriving(Position where, Entry *entry);

    // Makes address a border between entries, if it lies inside one; all parts keep labels, stage
    // and data. An entry of several elements gets borders around the one that is cut, too. Returns
    // the first entry that ends behind address. near: as for find_near().
    Position split(Position near, uintptr_t address);

    // Makes both ends of range borders, where they lie inside entries. Returns the first entry that
    // ends behind range.begin; it is range itself if one entry of one element covered range.
    Position make_borders(Position near, Range range);
    // The same of a range that an operation names: it may be named again, so an entry that is just
    // that is not joined with others soon.
    Position make_borders_of_named(Position near, Range range);

    // How many entries became part of the index, since forget_cuts(), that are only part of a range
    // that was added.
    size_t cuts() const { return cuts_; }
    void forget_cuts() { cuts_ = 0; }

    // Relabels an entry and keeps the list of READ_WRITE entries.
    void set_access(Entry &entry, addr_type access);

    // Joins the entry at where with the one before it if they are alike and their data lie side by
    // side. Returns the position of the entry that now holds where's bytes.
    Position merge_before(Position where);

    // The entries from where on, up to behind, become one that has these data and nothing else:
    // they are alike, and lie side by side. Returns the position behind.
    Position join(Position where, uintptr_t behind, Piece data);

    // Removes and deletes; returns the position behind.
    Position erase(Position where);

    // All arriving entries become part of the CD, in the order of their arrival; before, each is
    // shown to visit, which cannot fail.
    template <typename Visit> void accept_arriving(const Visit &visit) noexcept {
        for (Entry *entry = arriving_.detach(); entry != nullptr;) {
            Entry *following = entry->next;
            visit(*entry);
            entry->stage = Stage::held;
            set_access(*entry, entry->access);
            entry = following;
        }
    }
    void accept_arriving() noexcept {
        accept_arriving([](Entry &) {});
    }

    // All arriving entries are removed and deleted.
    void reject_arriving();

    EntryList &read_write() { return read_write_; }
    EntryList &arriving() { return arriving_; }

    // Deletes all entries.
    void clear();

    // Removes the entry without deleting it, for a new owner; it must be in no list.
    Position release(Position where) { return entries_.erase(where); }

    // Forgets all entries without deleting them: owner has them now, and gets their memory.
    void abandon_to(RangeIndex &owner);

private:
    static bool mergeable(const Entry &left, const Entry &right);
    bool is_just(Position where, Range range) const;

    void forget_all();

    EntryPool pool_;
    NodeReserve reserve_;
    Map entries_{Map::allocator_type(reserve_)};
    EntryList read_write_; // in the order of their promotion
    EntryList arriving_;
    size_t cuts_ = 0;
};

} // namespace cd
