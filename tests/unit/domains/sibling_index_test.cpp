// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/sibling_index.h"

#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <set>

namespace cd {
namespace {

int take_lowest(SiblingIndex &numbers) {
    const int number = numbers.lowest_free();
    numbers.take(number);
    return number;
}

// Stores name such numbers when the siblings in between have ended.
TEST(SiblingIndex, ThoseThatAreFarOffAreNotGivenTwice) {
    SiblingIndex numbers;
    const std::set<int> far = {5000, 5001, 4999, 70, 5100, 9000};
    for (const int number : far) {
        numbers.reserve_room(number);
        numbers.take(number);
    }
    numbers.give_back(5100);
    for (int i = 0; i < 8000; ++i) {
        if (!far.contains(i) || i == 5100) {
            ASSERT_EQ(take_lowest(numbers), i);
        }
    }
    numbers.give_back(5000);
    EXPECT_EQ(take_lowest(numbers), 5000);
    EXPECT_EQ(take_lowest(numbers), 8000);
}

TEST(SiblingIndex, TheSmallestFreeOneComesNextWhateverIsGivenBack) {
    std::mt19937 random(5);
    SiblingIndex numbers;
    std::set<int> taken;
    for (int step = 0; step < 5000; ++step) {
        if (taken.empty() || random() % 100 < 55) {
            int expected = 0;
            while (taken.contains(expected)) {
                ++expected;
            }
            ASSERT_EQ(numbers.lowest_free(), expected);
            ASSERT_EQ(take_lowest(numbers), expected) << "it was not taken before";
            taken.insert(expected);
        } else {
            const auto gone = std::next(taken.begin(), static_cast<long>(random() % taken.size()));
            numbers.give_back(*gone);
            taken.erase(gone);
        }
    }
}

} // namespace
} // namespace cd
