// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/cd.h"
#include "memory/block.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace cd {

// A half-open stretch of application memory.
struct Range {
    uintptr_t begin = 0;
    uintptr_t end = 0;

    size_t length() const { return end - begin; }
    bool empty() const { return begin == end; }
    void *address() const { return reinterpret_cast<void *>(begin); }
};

enum class Restoration : uint8_t { copy, parent, regen };

// The element of an add call that brought a byte into a CD. Splitting and moving an entry keep it.
// Parts of one origin that are alike again become one entry again.
//
// One entry may stand for several elements that follow each other in the list and in memory and are
// equally long. Then it holds all bytes of each.
struct Origin {
    uint64_t call = 0;
    uint32_t element = 0; // the first
    uint32_t elements = 1;
    bool operator==(const Origin &) const = default;
};

// The part of an entry in an operation that can still fail. Outside operations all are held.
enum class Stage : uint8_t {
    held,
    arriving, // in the index, but not part of the CD before the operation succeeds
    leaving   // part of the CD until the operation succeeds
};

// A CD entry: an address range, its labels, and for COPY its data. It is never copied or moved in
// memory; a commit gives the entry itself from the child to the parent.
struct Entry {
    Range range;
    Piece data;      // COPY only
    Piece next_data; // where the next advance writes: the old data of the last one
    cd_regen_fn regen = nullptr;
    Origin origin;

    Entry *previous = nullptr; // in one EntryList at a time
    Entry *next = nullptr;

    addr_type access = CD_READ_ONLY;
    addr_scope scope = CD_GLOBAL;
    Restoration restoration = Restoration::copy;
    Stage stage = Stage::held;
    bool data_shared = false; // another CD's entry has the same bytes: never write over them
    bool in_place = false;    // shadow=none: an advance overwrites the data and can undo that
    bool listed = false;      // in its index's list of READ_WRITE entries
    bool whole : 1 = false;   // has all bytes of its elements: no other entry can be alike
    bool reused : 1 = false;  // an operation named exactly this fragment: compaction leaves it
    uint16_t slot = 0;        // in its slab of the EntryPool

    Entry() = default;
    Entry(const Entry &) = delete;
    Entry &operator=(const Entry &) = delete;
    ~Entry() { give_up_data(); }

    void give_up_data() noexcept {
        data.give_up(range.length());
        next_data.give_up(range.length());
    }

    // Makes part an entry for the bytes from address on, with the same labels and a share of the
    // data. address: a border of one of several elements.
    void share_second_part(uintptr_t address, Entry &part) const {
        copy_labels({address, range.end}, part);
        part.data = data.share(address - range.begin);
        part.next_data = next_data.share(address - range.begin);
        part.data_shared = data_shared;
    }

    // Shortens the entry, whose second part another entry has.
    void end_at(uintptr_t address) {
        if (origin.elements > 1) {
            origin.elements = static_cast<uint32_t>((address - range.begin) / element_length());
        } else {
            whole = false;
        }
        range.end = address;
    }

    size_t element_length() const { return range.length() / origin.elements; }

    template <typename Visit> void for_each_element(const Visit &visit) const {
        for_each_element_in(range, visit);
    }

    // Calls visit with the bytes of each element that lie in part, which is in the entry.
    template <typename Visit> void for_each_element_in(Range part, const Visit &visit) const {
        const size_t length = element_length();
        uintptr_t begin = part.begin - (part.begin - range.begin) % length;
        for (; begin < part.end; begin += length) {
            visit(Range{std::max(begin, part.begin), std::min(begin + length, part.end)});
        }
    }

    // Gives other the range part and the labels of this entry, not its data. Of several elements
    // part has some as a whole.
    void copy_labels(Range part, Entry &other) const {
        other.range = part;
        other.regen = regen;
        other.origin = origin;
        other.access = access;
        other.scope = scope;
        other.restoration = restoration;
        other.stage = stage;
        other.in_place = in_place;
        if (origin.elements > 1) {
            const size_t length = element_length();
            other.origin.element += static_cast<uint32_t>((part.begin - range.begin) / length);
            other.origin.elements = static_cast<uint32_t>(part.length() / length);
            other.whole = true;
        } else {
            other.whole = whole && part.begin == range.begin && part.end == range.end;
        }
    }

    bool read_write() const { return access == CD_READ_WRITE; }

    // True if labels and origin are the same, so that only the place of their data can make them
    // two entries.
    bool alike(const Entry &other) const {
        return restoration == other.restoration && access == other.access && scope == other.scope &&
               regen == other.regen && origin == other.origin;
    }
};

static_assert(sizeof(void *) != 8 || sizeof(Entry) == 104, "docs/howto/memory.md tells the cost");

// A list that is doubly linked through `previous` and `next` of its items: linking cannot fail.
template <typename Item> class LinkedList {
public:
    Item *first() const { return first_; }
    bool empty() const { return first_ == nullptr; }

    void append(Item &item) {
        item.previous = last_;
        item.next = nullptr;
        (last_ != nullptr ? last_->next : first_) = &item;
        last_ = &item;
    }

    void insert_after(Item &where, Item &item) {
        item.previous = &where;
        item.next = where.next;
        (where.next != nullptr ? where.next->previous : last_) = &item;
        where.next = &item;
    }

    void remove(Item &item) {
        (item.previous != nullptr ? item.previous->next : first_) = item.next;
        (item.next != nullptr ? item.next->previous : last_) = item.previous;
        item.previous = item.next = nullptr;
    }

    // Empties the list at once and returns its first item. The others are reached through `next`
    // until they are put into a list again.
    Item *detach() {
        last_ = nullptr;
        return std::exchange(first_, nullptr);
    }

private:
    Item *first_ = nullptr;
    Item *last_ = nullptr;
};

using EntryList = LinkedList<Entry>;

} // namespace cd
