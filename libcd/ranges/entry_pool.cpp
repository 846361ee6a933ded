// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "ranges/entry_pool.h"

#include "memory/page_pool.h"
#include "os/system.h"

#include <algorithm>
#include <new>
#include <utility>

namespace cd {

// Stands before its slots in one piece of memory.
struct EntryPool::Slab {
    struct Free {
        Free *next;
        uint16_t slot;
    };

    EntryPool *pool;
    Slab *previous = nullptr; // in one list of its pool
    Slab *next = nullptr;
    Free *free = nullptr; // slots that were used before
    size_t bytes;         // of all of it
    uint16_t capacity;
    uint16_t used = 0; // slots that were ever used: the first ones
    uint16_t live = 0;

    Slab(EntryPool &owner, size_t size, size_t slots)
        : pool(&owner), bytes(size), capacity(static_cast<uint16_t>(slots)) {}

    Entry *slots() { return reinterpret_cast<Entry *>(this + 1); }
    bool full() const { return live == capacity; }
    bool pooled() const { return bytes >= PagePool::smallest; }

    uint16_t take_slot() {
        ++live;
        if (free == nullptr) {
            return used++;
        }
        const uint16_t slot = free->slot;
        free = free->next;
        return slot;
    }
    void give_slot(uint16_t slot) {
        --live;
        free = new (slots() + slot) Free{free, slot};
    }
};

namespace {

constexpr size_t fewest_slots = 4;

// Entries that take so much are walked faster in huge pages, and a slab that is not full is little
// beside them.
constexpr size_t worth_huge_pages = 4 * huge_page;

} // namespace

void EntryPool::take_all(Slabs &from, Slabs &to) noexcept {
    while (Slab *slab = from.first()) {
        from.remove(*slab);
        to.append(*slab);
        slab->pool = this;
    }
}

EntryPool::Slab &EntryPool::slab_of(Entry &entry) noexcept {
    return *(reinterpret_cast<Slab *>(&entry - entry.slot) - 1);
}

EntryPool::Slab *EntryPool::new_slab() {
    constexpr auto slots_in = [](size_t bytes) { return (bytes - sizeof(Slab)) / sizeof(Entry); };
    constexpr size_t most_on_heap = slots_in(PagePool::smallest);
    static_assert(sizeof(Slab) % alignof(Entry) == 0 && slots_in(huge_page) <= UINT16_MAX);
    size_t slots = std::clamp(live_, fewest_slots, most_on_heap);
    size_t bytes = sizeof(Slab) + slots * sizeof(Entry);
    void *at = nullptr;
    if (slots < most_on_heap) {
        at = ::operator new(bytes);
    } else {
        bytes = live_ * sizeof(Entry) < worth_huge_pages ? PagePool::smallest : huge_page;
        at = PagePool::instance().take(bytes);
        if (at == nullptr) {
            throw std::bad_alloc();
        }
        slots = std::min<size_t>(slots_in(bytes), UINT16_MAX); // it may have handed out more
    }
    return new (at) Slab(*this, bytes, slots);
}

void EntryPool::free_slab(Slab &slab) noexcept {
    if (slab.pooled()) {
        PagePool::instance().give(&slab, slab.bytes);
    } else {
        ::operator delete(&slab);
    }
}

EntryPool::Pointer EntryPool::make() {
    if (with_room_.empty()) {
        with_room_.append(*new_slab());
    }
    Slab &slab = *with_room_.first();
    const uint16_t slot = slab.take_slot();
    if (slab.full()) {
        with_room_.remove(slab);
        full_.append(slab);
    }
    ++live_;
    auto *entry = new (slab.slots() + slot) Entry;
    entry->slot = slot;
    return Pointer(entry);
}

void EntryPool::destroy(Entry *entry) noexcept {
    Slab &slab = slab_of(*entry);
    EntryPool &pool = *slab.pool;
    const uint16_t slot = entry->slot;
    entry->~Entry();
    --pool.live_;
    if (slab.full()) {
        pool.full_.remove(slab);
        pool.with_room_.append(slab);
    }
    slab.give_slot(slot);
    if (slab.live == 0) {
        pool.with_room_.remove(slab);
        free_slab(slab);
    }
}

void EntryPool::absorb(EntryPool &other) noexcept {
    take_all(other.with_room_, with_room_);
    take_all(other.full_, full_);
    live_ += std::exchange(other.live_, 0);
}

} // namespace cd
