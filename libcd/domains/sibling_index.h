// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cd {

// The sibling indexes of the live children of one CD. A new child gets the smallest free one.
// Finding it takes no longer with many siblings.
class SiblingIndex {
public:
    // Returns the smallest free number, and makes room for take(). May throw std::bad_alloc.
    int lowest_free();

    // Makes room to take a number that the caller knows to be free. May throw std::bad_alloc.
    void reserve_room(int number);

    // Takes a number for which there is room.
    void take(int number) noexcept;
    void give_back(int number) noexcept;

    bool none() const { return count_ == 0; } // no number is taken

private:
    static constexpr size_t bits = 64;

    std::vector<uint64_t> taken_; // a bit for each number
    size_t first_with_room_ = 0;  // all words before it are full
    size_t count_ = 0;
};

} // namespace cd
