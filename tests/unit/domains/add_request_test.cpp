// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/add_request.h"

#include "memory/allocation_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace cd {
namespace {

cd_addrspec spec(uintptr_t begin, uintptr_t end) {
    return {Range{begin, end}.address(), end - begin, CD_READ_ONLY, CD_GLOBAL};
}

// Returns the list indices of the elements in the order that was chosen.
std::vector<uint32_t> order(const std::vector<cd_addrspec> &list) {
    std::vector<uint32_t> indices;
    for (const Element &element : ordered_elements(list.data(), static_cast<int>(list.size()))) {
        indices.push_back(element.index);
    }
    return indices;
}

using Order = std::vector<uint32_t>;

TEST(ElementOrder, IsThatOfAddressesWhenNothingOverlaps) {
    EXPECT_EQ(order({}), Order());
    EXPECT_EQ(order({spec(10, 20), spec(20, 30), spec(50, 60)}), (Order{0, 1, 2}));
    EXPECT_EQ(order({spec(50, 60), spec(20, 30), spec(10, 20)}), (Order{2, 1, 0}));
}

TEST(ElementOrder, IsThatOfTheListWhenElementsOverlap) {
    EXPECT_EQ(order({spec(50, 60), spec(20, 30), spec(29, 31)}), (Order{0, 1, 2}));
    EXPECT_EQ(order({spec(50, 60), spec(20, 30), spec(20, 30)}), (Order{0, 1, 2}));
    EXPECT_EQ(order({spec(50, 60), spec(55, 56), spec(20, 30)}), (Order{0, 1, 2}));
    EXPECT_EQ(order({spec(10, 20), spec(15, 30)}), (Order{0, 1}));
}

TEST(ElementOrder, LeavesOutWhatIsEmpty) {
    const cd_addrspec empty = {nullptr, 0, CD_READ_ONLY, CD_GLOBAL};
    EXPECT_EQ(order({empty, spec(50, 60), empty, spec(55, 55), spec(20, 30)}), (Order{4, 1}));
    EXPECT_EQ(order({empty}), Order());
}

TEST(ElementOrder, ElementsKeepTheirLabels) {
    std::vector<cd_addrspec> list = {spec(50, 60), spec(20, 30)};
    list[0].addr_tp = CD_READ_WRITE;
    list[1].addr_scope = CD_CONSTRAINED;
    const auto elements = ordered_elements(list.data(), 2);
    EXPECT_EQ(elements[0].range.begin, 20u);
    EXPECT_EQ(elements[0].range.end, 30u);
    EXPECT_EQ(elements[0].access, CD_READ_ONLY);
    EXPECT_EQ(elements[0].scope, CD_CONSTRAINED);
    EXPECT_EQ(elements[1].access, CD_READ_WRITE);
    EXPECT_EQ(elements[1].scope, CD_GLOBAL);
}

TEST(ElementOrder, FindsWhatRunsPastTheEndBehindWhatItContinues) {
    constexpr size_t length = AllocationPlan::own_block / 5 * 2;
    constexpr uintptr_t begin = 1 - 2 * length;
    const cd_addrspec list[] = {spec(begin, begin + length), spec(begin + length, 1)};
    ASSERT_EQ(list[1].length, length);
    AddRequest request;
    request.list = list;
    request.count = 2;
    EXPECT_FALSE(legal_elements(request, Neighbours::together));
    request.count = 1;
    EXPECT_TRUE(legal_elements(request, Neighbours::together));
}

TEST(ElementOrder, SortsLongListsOfWideSpreadAddresses) {
    std::mt19937_64 random(5);
    std::vector<uintptr_t> begins;
    for (int i = 0; i < 20'000; ++i) {
        begins.push_back(random() >> random() % 60 << 4);
    }
    std::ranges::sort(begins);
    begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
    std::ranges::shuffle(begins, random);
    std::vector<cd_addrspec> list;
    for (const uintptr_t begin : begins) {
        list.push_back(spec(begin, begin + 1 + begin % 15));
    }
    const auto elements = ordered_elements(list.data(), static_cast<int>(list.size()));
    ASSERT_EQ(elements.size(), list.size());
    std::vector<bool> seen(list.size());
    for (size_t i = 0; i < elements.size(); ++i) {
        ASSERT_TRUE(i == 0 || elements[i - 1].range.end <= elements[i].range.begin);
        ASSERT_EQ(elements[i].range.address(), list[elements[i].index].address);
        ASSERT_FALSE(seen[elements[i].index]);
        seen[elements[i].index] = true;
    }
}

} // namespace
} // namespace cd
