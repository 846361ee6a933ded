// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/sibling_numbers.h"

#include <algorithm>
#include <bit>

namespace cd {

int SiblingNumbers::lowest_free() {
    while (first_with_room_ < taken_.size() && taken_[first_with_room_] == UINT64_MAX) {
        ++first_with_room_;
    }
    if (first_with_room_ == taken_.size()) {
        taken_.push_back(0);
    }
    const auto bit = static_cast<size_t>(std::countr_one(taken_[first_with_room_]));
    return static_cast<int>(first_with_room_ * bits + bit);
}

void SiblingNumbers::make_room(int number) {
    const size_t words = static_cast<size_t>(number) / bits + 1;
    if (taken_.size() < words) {
        taken_.resize(words);
    }
}

void SiblingNumbers::take(int number) noexcept {
    const auto index = static_cast<size_t>(number);
    taken_[index / bits] |= uint64_t{1} << (index % bits);
    ++count_;
}

void SiblingNumbers::give_back(int number) noexcept {
    const auto index = static_cast<size_t>(number);
    taken_[index / bits] &= ~(uint64_t{1} << (index % bits));
    --count_;
    first_with_room_ = std::min(first_with_room_, index / bits);
}

} // namespace cd
