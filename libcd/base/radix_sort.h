// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cd {

// Sorts items by the unsigned integer that key_of() returns, byte by byte from the lowest differing
// one. Much faster than comparing many items. May throw std::bad_alloc; then items are unchanged.
template <typename Item, typename KeyOf>
void radix_sort(std::vector<Item> &items, const KeyOf &key_of) {
    constexpr size_t worth_counting = 64;
    if (items.size() < worth_counting) {
        std::ranges::sort(items, {}, key_of);
        return;
    }
    uint64_t differing = 0;
    for (const Item &item : items) {
        differing |= key_of(item) ^ key_of(items.front());
    }
    std::vector<Item> sorted(items.size());
    constexpr int digit_bits = 8;
    const int end = static_cast<int>(std::bit_width(differing));
    for (int shift = std::countr_zero(differing); shift < end; shift += digit_bits) {
        const auto digit_of = [&](const Item &item) {
            return static_cast<uint8_t>(key_of(item) >> shift);
        };
        std::array<size_t, size_t{1} << digit_bits> places = {};
        for (const Item &item : items) {
            ++places[digit_of(item)];
        }
        size_t place = 0;
        for (size_t &count : places) {
            place += count;
            count = place - count;
        }
        for (const Item &item : items) {
            sorted[places[digit_of(item)]++] = item;
        }
        items.swap(sorted);
    }
}

} // namespace cd
