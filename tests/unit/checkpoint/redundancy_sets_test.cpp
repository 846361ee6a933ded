// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/redundancy_sets.h"

#include <gtest/gtest.h>

#include <numeric>

namespace cd::checkpoint {
namespace {

using Groups = std::vector<std::string>;
using Members = std::vector<std::vector<int>>;

std::vector<int> first_ranks(size_t count) {
    std::vector<int> ranks(count);
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

Status divide_all(const Groups &groups, const SetOptions &options, Division &division) {
    return divide(first_ranks(groups.size()), groups, static_cast<int>(groups.size()), options,
                  division);
}

Members members_of(const Division &division) {
    Members members;
    for (const redset::Set &set : division.sets) {
        EXPECT_TRUE(check_set(set, set.coding.members).is_ok()) << message();
        EXPECT_EQ(set.group, static_cast<int>(members.size()));
        EXPECT_EQ(set.groups, static_cast<int>(division.sets.size()));
        members.push_back(set.ranks);
    }
    return members;
}

Groups on_nodes_of_their_own(size_t count) {
    Groups groups;
    for (size_t i = 0; i < count; ++i) {
        groups.push_back("node" + std::to_string(i));
    }
    return groups;
}

constexpr SetOptions by_xor{{Scheme::xor_set, 0}, 8};

TEST(Division, NoSetHasTwoRanksOfOneNode) {
    Division division;
    ASSERT_TRUE(divide_all({"a", "a", "b", "b", "c", "c"}, by_xor, division).is_ok());
    EXPECT_EQ(members_of(division), (Members{{0, 2, 4}, {1, 3, 5}}));
    ASSERT_TRUE(divide_all({"a", "b", "c", "a", "b", "c"}, by_xor, division).is_ok());
    EXPECT_EQ(members_of(division), (Members{{0, 1, 2}, {3, 4, 5}}));
    EXPECT_EQ(division.fallback, "");
}

TEST(Division, CutsWhatIsLongerThanASetAsRedsetDoes) {
    const struct {
        size_t ranks;
        int set_size;
        std::vector<size_t> sizes;
    } cases[] = {{4, 8, {4}},     {9, 8, {9}},    {15, 8, {15}},  {16, 8, {8, 8}},
                 {17, 8, {9, 8}}, {9, 4, {5, 4}}, {7, 3, {4, 3}}, {11, 3, {4, 4, 3}}};
    for (const auto &[ranks, set_size, sizes] : cases) {
        Division division;
        ASSERT_TRUE(
            divide_all(on_nodes_of_their_own(ranks), {{Scheme::xor_set, 0}, set_size}, division)
                .is_ok());
        std::vector<size_t> found;
        int next = 0;
        for (const auto &members : members_of(division)) {
            found.push_back(members.size());
            EXPECT_EQ(members.front(), next); // neighbours stay together
            next = members.back() + 1;
        }
        EXPECT_EQ(found, sizes) << ranks << " ranks, set_size=" << set_size;
    }
}

TEST(Division, RanksAreThoseOfTheProgram) {
    Division division;
    const std::vector<int> ranks{3, 5, 8};
    ASSERT_TRUE(divide(ranks, Groups{"a", "b", "c"}, 9, by_xor, division).is_ok());
    EXPECT_EQ(division.sets.front().ranks, ranks);
    EXPECT_EQ(division.sets.front().job_ranks, 9);
    EXPECT_EQ(member_of(division.set_of(8), 8), 2);
}

TEST(Division, OneNodeFallsBackToSingle) {
    for (const size_t count : {size_t{1}, size_t{3}}) {
        Division division;
        ASSERT_TRUE(divide_all(Groups(count, "here"), by_xor, division).is_ok());
        EXPECT_EQ(division.sets.size(), count);
        EXPECT_EQ(division.sets.front().coding.scheme, Scheme::single);
        EXPECT_NE(division.fallback.find("\"here\""), std::string::npos) << division.fallback;
    }
}

TEST(Division, OfARankThatAloneHasTheRootItIsSaidSo) {
    Division division;
    const std::vector<int> ranks = {2};
    const Groups groups = {"here"};
    ASSERT_TRUE(divide(ranks, groups, 4, by_xor, division).is_ok());
    EXPECT_EQ(division.sets.front().coding.scheme, Scheme::single);
    EXPECT_TRUE(division.fallback.starts_with("only rank 2 of 4 has this root"))
        << division.fallback;
}

TEST(Division, RanksThatNodesOfUnequalSizeLeaveAloneAreNamed) {
    Division division;
    const Status status = divide_all({"a", "a", "a", "b"}, by_xor, division);
    EXPECT_EQ(status.code(), CD_ERROR_STORAGE_VALUE);
    EXPECT_NE(std::string(message()).find(" 4 ranks leave ranks 1, 2 for 2 sets: "),
              std::string::npos)
        << message();
    EXPECT_FALSE(divide_all({"a", "a", "b"}, by_xor, division));
    EXPECT_NE(std::string(message()).find(" 3 ranks leave rank 1 for a set: 1 member cannot"),
              std::string::npos)
        << message();
}

TEST(Division, MoreCopiesThanNodesAreRefused) {
    Division division;
    const SetOptions partners{{Scheme::partner, 3}, 8};
    EXPECT_EQ(divide_all({"a", "b", "c"}, partners, division).code(), CD_ERROR_STORAGE_VALUE);
    EXPECT_TRUE(divide_all({"a", "b", "c", "d"}, partners, division).is_ok());
    const SetOptions checksums{{Scheme::reed_solomon, 2}, 8};
    EXPECT_EQ(divide_all({"a", "b"}, checksums, division).code(), CD_ERROR_STORAGE_VALUE);
}

TEST(Division, SingleNeedsNobody) {
    Division division;
    ASSERT_TRUE(divide_all({"a", "b"}, {{Scheme::single, 0}, 8}, division).is_ok());
    EXPECT_EQ(members_of(division), (Members{{0}, {1}}));
    EXPECT_EQ(division.fallback, "");
}

TEST(Division, RanksAreListedShortly) {
    EXPECT_EQ(list_ranks(std::vector<int>{1, 2, 5}), "1, 2, 5");
    const std::string text = list_ranks(first_ranks(1000));
    EXPECT_TRUE(text.ends_with("and 970 more")) << text;
}

} // namespace
} // namespace cd::checkpoint
