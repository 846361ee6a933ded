// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "ranges/entry.h"

#include <cstddef>
#include <memory>

namespace cd {

// Memory for the entries of one RangeIndex, in slabs: the heap takes longer for each, and gives
// memory that the kernel has to provide anew. A slab has room for as many entries as the pool held
// when it was made, or is told to expect, from 4 up to 64 KiB of them, or 2 MiB for 8 MiB and more.
// It is freed when its last entry is gone.
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

    // Until it is told otherwise, slabs are made as if the pool held so many.
    void expect(size_t entries) { expected_ = entries; }

    // entry: from make(). The caller holds whatever protects the pool that has it now.
    static void destroy(Entry *entry) noexcept;

    // Takes over everything that other has.
    void absorb(EntryPool &other) noexcept;

private:
    // Linked through the slabs themselves.
    struct Slabs {
        Slab *first = nullptr;

        void add(Slab &slab) noexcept;
        void remove(Slab &slab) noexcept;
        void take_all(Slabs &others, EntryPool &owner) noexcept;
    };

    static Slab &slab_of(Entry &entry) noexcept;
    Slab *new_slab();
    static void free_slab(Slab &slab) noexcept;

    Slabs with_room_;
    Slabs full_;
    size_t live_ = 0;
    size_t expected_ = 0;
};

} // namespace cd
