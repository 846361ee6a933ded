// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

#include "checkpoint/turns.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace cd::checkpoint {
namespace {

RootApart root_of(int rank, const std::vector<int> &holders) {
    RootApart root{std::to_string(rank), {rank}, {}, {}};
    for (const int holder : holders) {
        root.holdings.push_back({holder, "/local"});
    }
    return root;
}

std::vector<std::vector<std::string>> roots_in(const std::vector<Turn> &turns) {
    std::vector<std::vector<std::string>> names;
    for (const Turn &turn : turns) {
        auto &in_this = names.emplace_back();
        for (const PartInTurn &each : turn) {
            in_this.push_back(each.root.root);
        }
    }
    return names;
}

using Names = std::vector<std::vector<std::string>>;

TEST(Turns, HaveAllThatConcernsNobodyTwice) {
    std::vector<RootApart> apart;
    for (int rank = 0; rank < 6; ++rank) { // in a ring, each on the node of the next
        apart.push_back(root_of(rank, {(rank + 1) % 6}));
    }
    EXPECT_EQ(roots_in(take_turns(std::move(apart))), (Names{{"0", "2", "4"}, {"1", "3", "5"}}));
}

TEST(Turns, ComeOneAfterTheOtherWhereARankHoldsSomethingOfAll) {
    std::vector<RootApart> apart{root_of(0, {7}), root_of(1, {7}), root_of(2, {7})};
    EXPECT_EQ(roots_in(take_turns(std::move(apart))), (Names{{"0"}, {"1"}, {"2"}}));
}

TEST(Turns, NameWhoHasTheRootAndWhoHoldsItOnceEach) {
    std::vector<RootApart> apart{root_of(4, {9, 2, 9, 4})};
    const auto turns = take_turns(std::move(apart));
    ASSERT_EQ(turns.size(), 1U);
    EXPECT_EQ(turns.front().front().ranks, (std::vector<int>{2, 4, 9}));
    EXPECT_TRUE(take_turns({}).empty());
}

} // namespace
} // namespace cd::checkpoint
