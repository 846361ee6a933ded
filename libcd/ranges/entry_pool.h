// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "os/system.h"
#include "ranges/entry.h"

#include <bit>
#include <cstddef>
#include <memory>
#include <new>

namespace cd {

// Memory for the entries of one RangeIndex, in slabs, which is faster than the heap. A slab has
// room for as many entries as the pool held when it was made: from 4 up to 64 KiB of them, or 2 MiB
// for 8 MiB and more. It is freed when its last entry is gone.
//
// An entry knows its slab and the slab its pool, so whole slabs can go to another pool while the
// addresses of their entries stay.
class EntryPool {
    struct Slab;

public:
    struct Destroy {
        void operator()(Entry *entry) const noexcept { destroy(entry); }
    };
    using Pointer = std::unique_ptr<Entry, Destroy>;

    EntryPool() = default;
    EntryPool(const EntryPool &) = delete;
    EntryPool &operator=(const EntryPool &) = delete;

    // May throw std::bad_alloc.
    Pointer make();

    // entry: from make(). The caller holds whatever protects the pool that has it now.
    static void destroy(Entry *entry) noexcept;

    // Takes over everything that other has.
    void absorb(EntryPool &other) noexcept;

private:
    using Slabs = LinkedList<Slab>;

    static Slab &slab_of(Entry &entry) noexcept;
    Slab *new_slab();
    static void free_slab(Slab &slab) noexcept;
    void take_all(Slabs &from, Slabs &to) noexcept;

    Slabs with_room_;
    Slabs full_;
    size_t live_ = 0;
};

// Memory for the nodes of one tree, obtained before an insertion so that it cannot fail in the
// middle: absl::btree_map loses nodes when an allocation throws while it splits. Also faster than
// the heap, as nodes go back and forth here.
class NodeReserve {
public:
    NodeReserve() = default;
    NodeReserve(const NodeReserve &) = delete;
    NodeReserve &operator=(const NodeReserve &) = delete;
    ~NodeReserve() {
        while (free_ != nullptr) {
            ::operator delete(pop());
        }
    }

    // Makes sure that one insertion into a tree of that many elements finds its memory here. At
    // worst every node on the way is split, and the root gets a new one above it. May throw
    // std::bad_alloc.
    void prepare_insertion(size_t elements) {
        const auto needed = static_cast<size_t>(std::bit_width(elements)) + 2;
        while (count_ < needed) {
            push(::operator new(node_size));
        }
    }

    void *allocate(size_t size) {
        return size <= node_size && free_ != nullptr ? pop() : ::operator new(at_least_node(size));
    }

    void deallocate(void *node, size_t size) noexcept {
        if (size <= node_size && count_ < most_kept) {
            push(node);
        } else {
            ::operator delete(node);
        }
    }

private:
    // The largest node of the tree, an internal one with 15 elements of 16 bytes and their
    // children.
    static constexpr size_t node_size = 400;
    static constexpr size_t most_kept = 64;

    struct Free {
        Free *next;
    };

    static size_t at_least_node(size_t size) { return size < node_size ? node_size : size; }

    void push(void *node) {
        free_ = new (node) Free{free_};
        ++count_;
    }
    void *pop() {
        Free *node = free_;
        free_ = node->next;
        --count_;
        return node;
    }

    Free *free_ = nullptr;
    size_t count_ = 0;
};

// Lets a container allocate from a NodeReserve.
template <typename T> class ReserveAllocator {
public:
    using value_type = T;

    explicit ReserveAllocator(NodeReserve &reserve) : reserve_(&reserve) {}
    template <typename Other>
    ReserveAllocator(const ReserveAllocator<Other> &other) : reserve_(&other.reserve()) {}

    T *allocate(size_t count) { return static_cast<T *>(reserve_->allocate(count * sizeof(T))); }
    void deallocate(T *at, size_t count) { reserve_->deallocate(at, count * sizeof(T)); }

    NodeReserve &reserve() const { return *reserve_; }
    template <typename Other> bool operator==(const ReserveAllocator<Other> &other) const {
        return reserve_ == &other.reserve();
    }

private:
    NodeReserve *reserve_;
};

// Prefetches the entry that a walk over many entries comes to a little later. Guesses its address:
// entries that were added together lie one behind the other.
inline void prefetch_behind(const Entry &entry) noexcept {
    constexpr size_t ahead = 16; // measured
    const auto *later = reinterpret_cast<const std::byte *>(&entry) + ahead * sizeof(Entry);
    static_assert(sizeof(Entry) <= 2 * cache_line); // a third line is the next entry's first
    __builtin_prefetch(later);
    __builtin_prefetch(later + cache_line);
}

} // namespace cd
