// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "memory/allocation_plan.h"

#include "../replaced_system.h"
#include "ranges/entry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace cd {
namespace {

constexpr size_t mebibyte = size_t{1} << 20;
constexpr size_t own_block = 2 * mebibyte; // has a block of its own
constexpr size_t shared = 8 * mebibyte;    // the most that small ones share

std::vector<Piece> place(AllocationPlan &placement, const std::vector<Range> &ranges) {
    for (const Range &range : ranges) {
        placement.plan(range.begin, range.length());
    }
    EXPECT_TRUE(placement.allocate());
    std::vector<Piece> pieces;
    for (const Range &range : ranges) {
        pieces.push_back(placement.next(range.begin, range.length()));
    }
    return pieces;
}

TEST(AllocationPlan, NeighboursInMemoryAreNeighboursInTheStore) {
    AllocationPlan placement(false);
    const auto pieces = place(placement, {{100, 107}, {107, 5000}, {5000, 5001}});
    EXPECT_TRUE(pieces[0].continued_by(pieces[1], 7));
    EXPECT_TRUE(pieces[1].continued_by(pieces[2], 4893));
}

TEST(AllocationPlan, SmallRangesThatAreNoNeighboursArePackedAndLongerOnesAligned) {
    AllocationPlan placement(false);
    const auto pieces = place(placement, {{100, 107}, {200, 203}, {10'000, 20'000}});
    EXPECT_TRUE(pieces[0].continued_by(pieces[1], 7));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(pieces[2].at()) % 64, 0u);
    EXPECT_EQ(&pieces[0].block(), &pieces[2].block());
}

TEST(AllocationPlan, LargeOnesHaveABlockOfTheirOwn) {
    AllocationPlan placement(false);
    const auto pieces =
        place(placement, {{0, 10}, {10, 10 + own_block}, {10 + own_block, 20 + own_block}});
    EXPECT_EQ(pieces[1].block().size(), own_block);
    EXPECT_EQ(pieces[1].at(), pieces[1].block().data());
    EXPECT_NE(&pieces[1].block(), &pieces[0].block());
    EXPECT_EQ(&pieces[0].block(), &pieces[2].block());
}

TEST(AllocationPlan, SmallOnesShareBlocksOfAMostLength) {
    AllocationPlan placement(false);
    constexpr size_t length = mebibyte + 100;
    std::vector<Range> ranges;
    for (uintptr_t i = 0; i < 8; ++i) {
        ranges.push_back({i * length, (i + 1) * length});
    }
    const auto pieces = place(placement, ranges);
    for (size_t i = 0; i < 7; ++i) {
        EXPECT_EQ(&pieces[i].block(), &pieces[0].block());
    }
    EXPECT_NE(&pieces[7].block(), &pieces[0].block());
    EXPECT_LE(pieces[0].block().size(), shared);
}

TEST(AllocationPlan, ABlockIsNoLargerThanWhatItIsFor) {
    AllocationPlan placement(false);
    const auto pieces = place(placement, {{0, 10}, {10, 1000}});
    EXPECT_EQ(pieces[0].block().size(), 1000u);
}

TEST(AllocationPlan, BlocksHaveTheChecksumsThatWereAskedFor) {
    for (const bool checksummed : {false, true}) {
        AllocationPlan placement(checksummed);
        const auto pieces = place(placement, {{0, 10}, {10, 10 + own_block}});
        EXPECT_EQ(pieces[0].block().checksummed(), checksummed);
        EXPECT_EQ(pieces[1].block().checksummed(), checksummed);
    }
}

TEST(AllocationPlan, PiecesNeverOverlapAndStayInTheirBlocks) {
    std::mt19937 random(3);
    for (int round = 0; round < 20; ++round) {
        std::vector<Range> ranges;
        uintptr_t at = 64;
        for (int i = 0; i < 200; ++i) {
            at += random() % 2 * (random() % 100);
            const size_t most = size_t{1} << random() % 23;
            const size_t length = 1 + random() % most;
            ranges.push_back({at, at + length});
            at += length;
        }
        AllocationPlan placement(false);
        const auto pieces = place(placement, ranges);
        std::vector<Range> taken;
        for (size_t i = 0; i < pieces.size(); ++i) {
            const Piece &piece = pieces[i];
            const auto offset = static_cast<size_t>(piece.at() - piece.block().data());
            ASSERT_LE(offset + ranges[i].length(), piece.block().size());
            const auto begin = reinterpret_cast<uintptr_t>(piece.at());
            taken.push_back({begin, begin + ranges[i].length()});
        }
        std::ranges::sort(taken, {}, &Range::begin);
        for (size_t i = 1; i < taken.size(); ++i) {
            ASSERT_LE(taken[i - 1].end, taken[i].begin);
        }
    }
}

TEST(AllocationPlan, AFailedAllocationOwnsNothingEvenWhileItLives) {
    for (size_t allowed = 0; allowed < 3; ++allowed) {
        CountedPages pages;
        pages.allowed_maps = allowed;
        AllocationPlan placement(true);
        for (uintptr_t i = 0; i < 3; ++i) {
            placement.plan(i * own_block, own_block);
        }
        EXPECT_FALSE(placement.allocate());
        EXPECT_EQ(pages.maps, allowed);
        PagePool::instance().trim();
        EXPECT_EQ(pages.mapped, 0u);
    }
}

TEST(AllocationPlan, WhatIsNotHandedOutIsFreed) {
    CountedPages pages;
    {
        AllocationPlan placement(false);
        placement.plan(0, own_block);
        placement.plan(own_block, own_block);
        ASSERT_TRUE(placement.allocate());
        EXPECT_TRUE(placement.next(0, own_block));
    }
    PagePool::instance().trim();
    EXPECT_EQ(pages.mapped, 0u);
}

TEST(AllocationPlan, ABlockLivesUntilItsLastPieceAndTheRestOfItsPlanAreGone) {
    CountedPages pages;
    Piece piece;
    {
        AllocationPlan placement(false);
        for (uintptr_t i = 0; i < 3; ++i) {
            placement.plan(i * mebibyte, mebibyte);
        }
        ASSERT_TRUE(placement.allocate());
        piece = placement.next(0, mebibyte);
        placement.next(mebibyte, mebibyte).reset();
    }
    PagePool::instance().trim();
    EXPECT_NE(pages.mapped, 0u);
    piece.reset();
    PagePool::instance().trim();
    EXPECT_EQ(pages.mapped, 0u);
}

} // namespace
} // namespace cd
