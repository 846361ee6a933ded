// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "base/radix_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace cd {
namespace {

struct Item {
    uint64_t key;
    size_t index;
    bool operator==(const Item &) const = default;
};

// Keys that differ only in the bits of mask.
std::vector<Item> random_items(size_t count, uint64_t mask) {
    std::mt19937_64 random(count);
    const uint64_t common = random();
    std::vector<Item> items;
    for (size_t i = 0; i < count; ++i) {
        items.push_back({(common & ~mask) | (random() & mask), i});
    }
    return items;
}

TEST(RadixSort, PutsItemsInTheOrderOfTheirKeysWhateverBitsTheseDifferIn) {
    for (const uint64_t mask : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 63, uint64_t{0xff0},
                                uint64_t{0x7ff8}, uint64_t{0xffff'ffff'fff0}, UINT64_MAX}) {
        for (const size_t count : {0, 1, 2, 63, 64, 65, 1000, 20'000}) {
            std::vector<Item> items = random_items(count, mask);
            std::vector<Item> expected = items;
            std::ranges::stable_sort(expected, {}, &Item::key);
            radix_sort(items, [](const Item &item) { return item.key; });
            ASSERT_TRUE(std::ranges::is_sorted(items, {}, &Item::key)) << mask << ' ' << count;
            std::ranges::sort(items, {},
                              [](const Item &item) { return std::pair(item.key, item.index); });
            ASSERT_EQ(items, expected) << mask << ' ' << count;
        }
    }
}

} // namespace
} // namespace cd
