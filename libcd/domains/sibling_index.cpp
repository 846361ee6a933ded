// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/sibling_index.h"

#include <algorithm>
#include <bit>

namespace cd {

int SiblingIndex::lowest_free() {
    for (;; ++first_with_room_) {
        if (first_with_room_ == taken_.size()) {
            taken_.push_back(0);
        }
        if (taken_[first_with_room_] != UINT64_MAX) {
            break;
        }
    }
    const auto bit = static_cast<size_t>(std::countr_one(taken_[first_with_room_]));
    return static_cast<int>(first_with_room_ * bits + bit);
}

void SiblingIndex::reserve_room(int number) {
    taken_.resize(std::max(taken_.size(), static_cast<size_t>(number) / bits + 1));
}

void SiblingIndex::take(int number) noexcept {
    const auto index = static_cast<size_t>(number);
    taken_[index / bits] |= uint64_t{1} << (index % bits);
    ++count_;
}

void SiblingIndex::give_back(int number) noexcept {
    const auto index = static_cast<size_t>(number);
    taken_[index / bits] &= ~(uint64_t{1} << (index % bits));
    --count_;
    first_with_room_ = std::min(first_with_room_, index / bits);
}

} // namespace cd
