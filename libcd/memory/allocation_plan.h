// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "memory/block.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cd {

// Allocates the blocks of one operation at once: plan() each entry, allocate(), then next() for
// each in the same order. Nothing is owned before allocate(), and nothing fails after it.
//
// Large entries get a block of their own, so that deleting them frees memory; small ones share
// blocks. Neighbours in application memory are neighbours in the block, and are copied as one.
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

    // Returns the bytes planned so far.
    size_t planned() const;

    // Allocates all blocks. False without memory; then nothing is owned.
    [[nodiscard]] bool allocate();

    Piece next(uintptr_t address, size_t length);

private:
    struct Place {
        size_t block;
        size_t offset;
    };

    // The deterministic sequence of places, walked once to plan and once to hand out.
    struct Walk {
        static constexpr size_t none = SIZE_MAX;
        size_t blocks = 0;
        size_t shared_block = none;
        size_t shared_used = 0;
        uintptr_t previous_end = 0;

        Place step(uintptr_t address, size_t length);
    };

    // A planned or allocated block. Its pieces count as owners from the beginning, which saves an
    // atomic operation for each.
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
