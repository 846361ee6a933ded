// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "memory/block.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cd {

// Finds room for the data of many entries at once: plan() each of them, allocate() everything, then
// next() for each in the same order. Between plan and allocate nothing is owned, after allocate
// nothing can fail: that is what an all-or-nothing operation needs.
//
// Large entries get a block of their own, so that deleting them frees memory; small ones share
// blocks. Neighbours in application memory become neighbours in the store, so that they can be
// copied as one.
class AllocationPlan {
public:
    // Entries from this length on get a block of their own.
    static constexpr size_t own_block = size_t{2} << 20;

    explicit AllocationPlan(bool checksummed) : checksummed_(checksummed) {}
    AllocationPlan(const AllocationPlan &) = delete;
    AllocationPlan &operator=(const AllocationPlan &) = delete;
    ~AllocationPlan();

    // May throw std::bad_alloc.
    void plan(uintptr_t address, size_t length);

    // How many bytes that is so far.
    size_t planned() const;

    // False when there is no memory; then nothing is owned.
    [[nodiscard]] bool allocate();

    Piece next(uintptr_t address, size_t length);

private:
    struct Place {
        size_t block;
        size_t offset;
    };

    // One deterministic walk, made once to plan and once to hand out.
    struct Walk {
        static constexpr size_t none = SIZE_MAX;
        size_t blocks = 0;
        size_t shared_block = none;
        size_t shared_used = 0;
        uintptr_t previous_end = 0;

        Place step(uintptr_t address, size_t length);
    };

    // A block that is planned or there, and how many pieces of it are to be handed out. They are
    // counted as its owners at once, since an atomic operation for each would show.
    struct Room {
        size_t size = 0;
        size_t pieces = 0;
        Block *block = nullptr;
    };

    void release_blocks() noexcept;

    bool checksummed_;
    Walk planning_;
    Walk handing_out_;
    std::vector<Room> rooms_;
};

} // namespace cd
