// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "store/copy_run.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

namespace cd {
namespace {

struct CopyRunTest : testing::Test {
    CopyRunTest() {
        std::iota(memory.begin(), memory.end(), uint8_t{1});
        std::memset(block->data(), 0, 200);
    }
    ~CopyRunTest() override {
        block->release();
        other->release();
    }

    uintptr_t address(size_t offset) const {
        return reinterpret_cast<uintptr_t>(memory.data()) + offset;
    }
    std::byte *stored(size_t offset) const { return block->data() + offset; }

    std::vector<uint8_t> memory = std::vector<uint8_t>(200);
    Block *block = Block::create(200, true);
    Block *other = Block::create(200, false);
};

TEST_F(CopyRunTest, NeighboursOnBothSidesAreOneCopy) {
    CopyRun run(CopyRun::Direction::to_store);
    run.add(address(10), *block, stored(50), 5);
    run.add(address(15), *block, stored(55), 20);
    EXPECT_EQ(run.copied(), 0u);
    run.flush();
    EXPECT_EQ(run.copied(), 25u);
    EXPECT_EQ(std::memcmp(stored(50), &memory[10], 25), 0);
    EXPECT_EQ(*stored(49), std::byte{0});
    EXPECT_EQ(*stored(75), std::byte{0});
    EXPECT_TRUE(block->intact(stored(0), 200));
}

TEST_F(CopyRunTest, AGapOnEitherSideStartsAnotherCopy) {
    CopyRun run(CopyRun::Direction::to_store);
    run.add(address(10), *block, stored(50), 5);
    run.add(address(16), *block, stored(55), 5); // gap in memory
    EXPECT_EQ(run.copied(), 5u);
    run.add(address(21), *block, stored(61), 5); // gap in the store
    EXPECT_EQ(run.copied(), 10u);
    run.add(address(26), *other, other->data() + 66, 5); // another block
    EXPECT_EQ(run.copied(), 15u);
    run.add(address(10), *other, other->data() + 71, 5); // backwards in memory
    EXPECT_EQ(run.copied(), 20u);
    run.flush();
    EXPECT_EQ(std::memcmp(stored(50), &memory[10], 5), 0);
    EXPECT_EQ(std::memcmp(stored(55), &memory[16], 5), 0);
    EXPECT_EQ(std::memcmp(stored(61), &memory[21], 5), 0);
    EXPECT_EQ(*stored(60), std::byte{0});
    EXPECT_EQ(std::memcmp(other->data() + 66, &memory[26], 5), 0);
    EXPECT_EQ(std::memcmp(other->data() + 71, &memory[10], 5), 0);
}

TEST_F(CopyRunTest, CopiesBackToMemory) {
    std::memset(block->data(), 0xab, 200);
    {
        CopyRun run(CopyRun::Direction::to_memory);
        run.add(address(100), *block, stored(0), 3);
        run.add(address(103), *block, stored(3), 4);
    } // its end copies the rest
    EXPECT_EQ(memory[99], 100);
    for (size_t i = 100; i < 107; ++i) {
        EXPECT_EQ(memory[i], 0xab) << i;
    }
    EXPECT_EQ(memory[107], 108);
}

TEST_F(CopyRunTest, CanGoOnAfterAFlush) {
    CopyRun run(CopyRun::Direction::to_store);
    run.add(address(0), *block, stored(0), 8);
    run.flush();
    memory[3] = 99;
    run.add(address(0), *block, stored(0), 8); // the same again
    run.flush();
    run.flush();
    EXPECT_EQ(run.copied(), 16u);
    EXPECT_EQ(*stored(3), std::byte{99});
}

} // namespace
} // namespace cd
