// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "ranges/range_index.h"

#include <iterator>
#include <utility>

namespace cd {

RangeIndex::Position RangeIndex::find_near(Position near, uintptr_t address) const {
    // First, because it takes no look at another entry.
    if (near != entries_.end() && near->second->range.begin <= address &&
        address < near->second->range.end) {
        return near;
    }
    const auto ends_before = [&](Position at) {
        return at == entries_.begin() || std::prev(at)->second->range.end <= address;
    };
    const auto ends_behind = [&](Position at) {
        return at == entries_.end() || at->second->range.end > address;
    };
    if (ends_before(near)) {
        if (ends_behind(near)) {
            return near;
        }
        if (const auto following = std::next(near); ends_behind(following)) {
            return following;
        }
    }
    auto at = entries_.upper_bound(address);
    if (!ends_before(at)) {
        --at;
    }
    return at;
}

RangeIndex::Position RangeIndex::insert(Position where, Entry *entry) {
    reserve_.prepare_insertion(entries_.size());
    return entries_.insert(where, {entry->range.begin, entry});
}

RangeIndex::Position RangeIndex::insert_arriving(Position where, Entry *entry) {
    const auto inserted = insert(where, entry);
    cuts_ += entry->whole ? 0 : 1;
    entry->stage = Stage::arriving;
    arriving_.append(*entry);
    return inserted;
}

RangeIndex::Position RangeIndex::split(Position near, uintptr_t address) {
    auto at = find_near(near, address);
    if (at == entries_.end() || at->second->range.begin >= address) {
        return at;
    }
    const size_t length = at->second->element_length();
    if (const size_t inside = (address - at->second->range.begin) % length;
        inside != 0 && at->second->origin.elements > 1) {
        // The one of its elements that becomes two is an entry of its own first.
        split(at, address - inside + length);
        at = split(find(address), address - inside);
    }
    Entry &left = *at->second;
    auto right = make_entry();
    right->range = {address, left.range.end};
    const auto inserted = insert(std::next(at), right.get());
    left.share_second_part(address, *right);
    if (left.stage == Stage::arriving) {
        arriving_.insert_after(left, *right);
    } else if (left.listed) {
        read_write_.insert_after(left, *right);
        right->listed = true;
    }
    // No part of such an entry could write to its part of the place alone.
    if (left.next_data && left.next_data.block().backing() != nullptr) {
        left.next_data.give_up(left.range.length());
        right->next_data.reset();
    }
    left.end_at(address);
    cuts_ += right->whole ? 0 : 1;
    right.release();
    return inserted;
}

RangeIndex::Position RangeIndex::make_borders(Position near, Range range, bool named) {
    near = find_near(near, range.begin);
    if (is_exactly(near, range)) { // the usual case
        Entry &entry = *near->second;
        entry.reused = named ? !entry.whole : entry.reused;
        return near;
    }
    split(find(range.end), range.end);
    return split(find(range.begin), range.begin);
}

bool RangeIndex::is_exactly(Position where, Range range) const {
    return where != entries_.end() && where->second->range.begin == range.begin &&
           where->second->range.end == range.end;
}

void RangeIndex::set_access(Entry &entry, addr_type access) {
    entry.access = access;
    const bool to_list = access == CD_READ_WRITE;
    if (to_list && !entry.listed) {
        read_write_.append(entry);
    } else if (!to_list && entry.listed) {
        read_write_.remove(entry);
    }
    entry.listed = to_list;
}

bool RangeIndex::mergeable(const Entry &left, const Entry &right) {
    return left.range.end == right.range.begin && left.stage == Stage::held &&
           right.stage == Stage::held && left.alike(right) &&
           left.data_shared == right.data_shared && left.in_place == right.in_place &&
           left.data.continued_by(right.data, left.range.length()) &&
           left.next_data.continued_by(right.next_data, left.range.length());
}

RangeIndex::Position RangeIndex::merge_before(Position where) {
    if (where == entries_.begin() || where == entries_.end() ||
        !mergeable(*std::prev(where)->second, *where->second)) {
        return where;
    }
    Entry &left = *std::prev(where)->second;
    Entry &right = *where->second;
    left.range.end = right.range.end;
    right.data.reset(); // left holds these bytes from now on
    right.next_data.reset();
    return std::prev(erase(where));
}

RangeIndex::Position RangeIndex::join(Position where, uintptr_t behind, Piece data) {
    Entry &first = *where->second;
    first.give_up_data();
    first.range.end = behind;
    first.data = std::move(data);
    first.data_shared = false;
    for (++where; where != entries_.end() && where->second->range.begin < behind;) {
        where = erase(where);
    }
    return where;
}

RangeIndex::Position RangeIndex::erase(Position where) {
    const EntryPool::Pointer entry(where->second);
    if (entry->stage == Stage::arriving) {
        arriving_.remove(*entry);
    } else if (entry->listed) {
        read_write_.remove(*entry);
    }
    return entries_.erase(where);
}

void RangeIndex::reject_arriving() {
    while (Entry *entry = arriving_.first()) {
        erase(entries_.find(entry->range.begin));
    }
}

void RangeIndex::clear() {
    for (const auto &[address, entry] : entries_) {
        EntryPool::destroy(entry);
    }
    forget_all();
}

void RangeIndex::abandon_to(RangeIndex &owner) {
    forget_all();
    owner.pool_.absorb(pool_);
}

void RangeIndex::forget_all() {
    entries_.clear();
    read_write_ = {};
    arriving_ = {};
}

} // namespace cd
