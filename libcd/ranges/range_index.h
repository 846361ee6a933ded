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
// Owns its entries. Only insertions and splits can fail (std::bad_alloc; no byte has changed). So
// operations are all-or-nothing: they first split and insert, then relabel and erase. Any
// insertion, split or removal makes positions invalid.
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

    // Returns the first entry that ends behind address.
    Position find(uintptr_t address) const { return find_near(entries_.end(), address); }

    // Returns the same, in O(1) if it is `near` or the entry behind that.
    Position find_near(Position near, uintptr_t address) const;

    // Makes an entry for this index, or for one that takes this index over (abandon_to()). May
    // throw std::bad_alloc.
    EntryPool::Pointer make_entry() { return pool_.make(); }

    // Takes ownership of entry, which overlaps no other. `where`: the first entry behind it.
    Position insert(Position where, Entry *entry);

    // Does the same, and marks entry as arriving.
    Position insert_arriving(Position where, Entry *entry);

    // Splits the entry around address, if it lies inside one. Both parts keep labels, stage and
    // data. An entry of several elements is also split around the element that is cut. Returns the
    // first entry that ends behind address. `near`: as for find_near().
    Position split(Position near, uintptr_t address);

    // Splits entries at both ends of range. Returns the first entry that ends behind range.begin;
    // it is exactly range if one entry of one element covered range. `named`: an operation names
    // the range and may name it again, so an entry of exactly this range is marked as reused.
    Position make_borders(Position near, Range range, bool named = false);

    // Returns how many entries have come since forget_cuts() that have only part of an added range.
    size_t cuts() const { return cuts_; }
    void forget_cuts() { cuts_ = 0; }

    // Sets the access type of an entry and updates the list of READ_WRITE entries.
    void set_access(Entry &entry, addr_type access);

    // Joins the entry at where with the one before it if they are alike and their data lie side by
    // side. Returns the position of the entry that now holds where's bytes.
    Position merge_before(Position where);

    // Replaces the entries from `where` up to the address `behind`, which are alike and lie side by
    // side, by one with these data. Returns the position behind it.
    Position join(Position where, uintptr_t behind, Piece data);

    // Removes and deletes an entry. Returns the position behind it.
    Position erase(Position where);

    // Makes all arriving entries part of the CD, in the order of their arrival. Calls visit with
    // each before.
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

    // Removes and deletes all arriving entries.
    void reject_arriving();

    EntryList &read_write() { return read_write_; }
    EntryList &arriving() { return arriving_; }

    // Deletes all entries.
    void clear();

    // Removes an entry without deleting it, for a new owner. It must be in no list.
    Position release(Position where) { return entries_.erase(where); }

    // Forgets all entries without deleting them: they are in `owner` now, which gets their memory.
    void abandon_to(RangeIndex &owner);

private:
    static bool mergeable(const Entry &left, const Entry &right);
    bool is_exactly(Position where, Range range) const;

    void forget_all();

    EntryPool pool_;
    NodeReserve reserve_;
    Map entries_{Map::allocator_type(reserve_)};
    EntryList read_write_; // in the order of their promotion
    EntryList arriving_;
    size_t cuts_ = 0;
};

} // namespace cd
