// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "memory/block.h"

#include "../replaced_system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace cd {
namespace {

constexpr size_t large = PagePool::smallest;

std::vector<std::byte> pattern(size_t length, int seed = 1) {
    std::vector<std::byte> bytes(length);
    for (size_t i = 0; i < length; ++i) {
        bytes[i] = static_cast<std::byte>(i * 31 + static_cast<size_t>(seed) * 7 + i / 256);
    }
    return bytes;
}

TEST(Block, OnlyLargeOnesTakePages) {
    CountedPages pages;
    Block *small = Block::create(large - 1, false);
    EXPECT_EQ(pages.maps, 0u);
    Block *big = Block::create(large, false);
    EXPECT_EQ(pages.maps, 1u);
    EXPECT_EQ(big->size(), large);
    small->release();
    big->release();
}

TEST(Block, NoMemoryGivesNone) {
    CountedPages pages;
    pages.allowed_maps = 0;
    EXPECT_EQ(Block::create(large, false), nullptr);
    EXPECT_EQ(Block::create(large, true), nullptr);
}

TEST(Block, AnEmptyOneIsPossible) {
    for (const bool checksummed : {false, true}) {
        Block *block = Block::create(0, checksummed);
        ASSERT_NE(block, nullptr);
        block->write(0, &checksummed, 0);
        EXPECT_TRUE(block->intact(0, 0));
        block->release();
    }
}

// The checksum of a page covers all of it, also what is written later or never.
TEST(Block, WhatNobodyHasWrittenInAPageIsZero) {
    constexpr size_t size = 2000;
    const std::vector<std::byte> text = pattern(size);
    for (int time = 0; time < 2; ++time) {
        Block *block = Block::create(size, true);
        block->write(100, text.data(), 50);
        EXPECT_EQ(std::count(block->data(), block->data() + size, std::byte{0}),
                  static_cast<std::ptrdiff_t>(size - 50) +
                      std::count(text.begin(), text.begin() + 50, std::byte{0}));
        block->write(0, text.data(), size); // for the next one, which gets the same memory
        EXPECT_TRUE(block->intact(0, size));
        block->release();
    }
}

TEST(Block, TheLastOwnerFreesIt) {
    CountedPages pages;
    const auto still_there = [&] {
        PagePool::instance().trim();
        return pages.mapped > 0;
    };
    Block *block = Block::create(large, true);
    Piece first(*block, 0);
    block->release();
    Piece second = first.share(100);
    EXPECT_EQ(second.at(), first.at() + 100);
    EXPECT_EQ(&second.block(), block);
    Piece moved = std::move(first);
    EXPECT_FALSE(first); // NOLINT(bugprone-use-after-move): what a moved one is, is the question
    moved.reset();
    EXPECT_FALSE(moved);
    EXPECT_TRUE(still_there());
    second = Piece();
    EXPECT_FALSE(still_there());
    EXPECT_FALSE(second.share(5));
}

TEST(Block, PiecesKnowWhetherTheyAreNeighbours) {
    Block *one = Block::create(100, false);
    Block *other = Block::create(100, false);
    {
        const Piece left(*one, 0);
        EXPECT_TRUE(left.continued_by(left.share(40), 40));
        EXPECT_FALSE(left.continued_by(left.share(41), 40));
        EXPECT_FALSE(left.continued_by(Piece(*other, 40), 40));
        EXPECT_FALSE(left.continued_by(Piece(), 40));
        EXPECT_TRUE(Piece().continued_by(Piece(), 40));
    }
    one->release();
    other->release();
}

TEST(Block, WithoutChecksumsIsAlwaysIntact) {
    Block *block = Block::create(100, false);
    const auto bytes = pattern(100);
    block->write(0, bytes.data(), 100);
    EXPECT_TRUE(std::ranges::equal(bytes, std::vector(block->data(), block->data() + 100)));
    block->data()[50] ^= std::byte{1};
    EXPECT_FALSE(block->checksummed());
    EXPECT_TRUE(block->intact(0, 100));
    block->release();
}

// Two pages and a bit, the last page being a partial one.
struct ChecksummedBlock : testing::Test {
    ChecksummedBlock() { block->write(0, bytes.data(), size); }
    ~ChecksummedBlock() override { block->release(); }

    std::byte *at(size_t offset) const { return block->data() + offset; }
    void damage(size_t offset) const { *at(offset) ^= std::byte{0x10}; }
    bool page_intact(size_t page) const { return block->intact(page * Block::page, 1); }
    bool all_intact() const { return block->intact(0, size); }

    static constexpr size_t size = 2 * Block::page + 100;
    std::vector<std::byte> bytes = pattern(size);
    Block *block = Block::create(size, true);
};

TEST_F(ChecksummedBlock, FindsDamageWhereItIs) {
    EXPECT_TRUE(all_intact());
    for (const size_t offset :
         {size_t{0}, Block::page - 1, Block::page, 2 * Block::page, size - 1}) {
        damage(offset);
        EXPECT_FALSE(all_intact()) << offset;
        for (size_t page = 0; page < 3; ++page) {
            EXPECT_EQ(page_intact(page), page != offset / Block::page) << offset;
        }
        damage(offset); // undoes it
        EXPECT_TRUE(all_intact()) << offset;
    }
}

TEST_F(ChecksummedBlock, LooksAtThePagesOfTheRangeOnly) {
    damage(Block::page);
    EXPECT_TRUE(block->intact(0, Block::page));
    EXPECT_FALSE(block->intact(Block::page - 1, 2));
    EXPECT_FALSE(block->intact(Block::page - 1, 1000));
    EXPECT_TRUE(block->intact(2 * Block::page, 100));
    EXPECT_TRUE(block->intact(Block::page, 0));
}

TEST_F(ChecksummedBlock, PartialWritesAreSealed) {
    const auto other = pattern(Block::page + 50, 2);
    block->write(Block::page - 20, other.data(), other.size()); // ends in the last page
    std::ranges::copy(other, bytes.begin() + Block::page - 20);
    EXPECT_TRUE(all_intact());
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), at(0)));
    for (const size_t offset : {size_t{0}, Block::page + 1, 2 * Block::page + 99}) {
        damage(offset);
        EXPECT_FALSE(page_intact(offset / Block::page)) << offset;
    }
}

TEST_F(ChecksummedBlock, APartialWriteDoesNotSealDamage) {
    for (const size_t offset : {size_t{5}, size - 1}) {
        const size_t page = offset / Block::page;
        damage(offset);
        block->write(page * Block::page + 50, bytes.data(), 10);
        EXPECT_FALSE(page_intact(page));
        block->write(page * Block::page + 50, bytes.data(), 10);
        EXPECT_FALSE(page_intact(page)) << "sealed by the second write";
    }
}

TEST_F(ChecksummedBlock, AWriteOfAllBytesHealsAPage) {
    damage(Block::page + 7);
    damage(size - 1);
    block->write(0, bytes.data(), 10); // knows the damage of neither
    block->write(Block::page, bytes.data(), Block::page + 100);
    EXPECT_TRUE(all_intact());
}

TEST(Block, UnwrittenPagesAreIntact) {
    Block *block = Block::create(3 * Block::page, true);
    const auto bytes = pattern(10);
    block->write(Block::page + 5, bytes.data(), 10);
    EXPECT_TRUE(block->intact(0, 3 * Block::page));
    block->data()[Block::page + 5] ^= std::byte{1};
    EXPECT_FALSE(block->intact(0, 3 * Block::page));
    block->release();
}

} // namespace
} // namespace cd
