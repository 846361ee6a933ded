// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace cd {

// Which sibling indexes the live children of one CD have. A new child gets the smallest free one;
// finding it does not take longer for having many siblings. Memory is taken for how many there are,
// whatever the numbers that a store says of them.
class SiblingIndex {
public:
    // The smallest number that is free; take() has room for it then. May throw std::bad_alloc.
    int lowest_free();

    // The same for a number that the caller knows to be free. May throw std::bad_alloc.
    void reserve_room(int number);

    // number: what lowest_free() has returned since the last change, or there is room for.
    void take(int number) noexcept;
    void give_back(int number) noexcept;

    bool none() const { return count_ == 0; } // is taken

private:
    static constexpr size_t bits = 64;
    static constexpr size_t near = 16; // words

    void add_word();
    uint64_t &word_of(size_t index) noexcept;

    std::vector<uint64_t> taken_;    // a bit for each number
    std::map<size_t, uint64_t> far_; // words that are not near the end of these, by their places
    size_t first_with_room_ = 0;     // all words before it are full
    size_t count_ = 0;
};

} // namespace cd
