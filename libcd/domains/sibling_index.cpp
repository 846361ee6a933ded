// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/sibling_index.h"

#include <algorithm>
#include <bit>

namespace cd {

// The next word, with what was far until now.
void SiblingIndex::add_word() {
    taken_.push_back(0);
    if (const auto far = far_.find(taken_.size() - 1); far != far_.end()) {
        taken_.back() = far->second;
        far_.erase(far);
    }
}

uint64_t &SiblingIndex::word_of(size_t index) noexcept {
    return index < taken_.size() ? taken_[index] : far_.find(index)->second;
}

int SiblingIndex::lowest_free() {
    for (;; ++first_with_room_) {
        if (first_with_room_ == taken_.size()) {
            add_word();
        }
        if (taken_[first_with_room_] != UINT64_MAX) {
            break;
        }
    }
    const auto bit = static_cast<size_t>(std::countr_one(taken_[first_with_room_]));
    return static_cast<int>(first_with_room_ * bits + bit);
}

void SiblingIndex::reserve_room(int number) {
    const size_t index = static_cast<size_t>(number) / bits;
    if (index >= taken_.size() + near) {
        far_.try_emplace(index);
        return;
    }
    while (taken_.size() <= index) {
        add_word();
    }
}

void SiblingIndex::take(int number) noexcept {
    const auto index = static_cast<size_t>(number);
    word_of(index / bits) |= uint64_t{1} << (index % bits);
    ++count_;
}

void SiblingIndex::give_back(int number) noexcept {
    const auto index = static_cast<size_t>(number);
    word_of(index / bits) &= ~(uint64_t{1} << (index % bits));
    --count_;
    first_with_room_ = std::min(first_with_room_, index / bits);
}

} // namespace cd
