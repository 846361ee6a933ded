// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "memory/copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

namespace cd {
namespace {

struct CopyWay {
    const char *name;
    void (*copy)(void *to, const void *from, size_t length);
};

class LongCopy : public testing::TestWithParam<CopyWay> {
protected:
    static void copies(size_t offset, size_t length) {
        const size_t room = length + 100;
        std::vector<uint8_t> from(room);
        for (size_t i = 0; i < room; ++i) {
            from[i] = static_cast<uint8_t>(i * 7 + i / 251);
        }
        std::vector<uint8_t> to(room, 0xee);
        std::vector<uint8_t> expected = to;
        std::copy_n(&from[offset / 3], length, &expected[offset]);
        GetParam().copy(&to[offset], &from[offset / 3], length);
        ASSERT_EQ(to, expected) << "offset " << offset << ", length " << length;
    }
};

TEST_P(LongCopy, CopiesEveryByteAndNoOtherWhateverTheAlignment) {
    for (size_t offset = 0; offset < 64; ++offset) {
        for (const size_t length : {0, 1, 63, 64, 65, 200, 16'383, 16'384, 16'500, 28'672, 40'000,
                                    262'143, 340'000, 690'000}) {
            copies(offset, length);
        }
    }
    for (const size_t offset : {0, 1, 17, 48}) {
        for (const size_t length : {4'194'304, 4'194'305, 5'000'001}) {
            copies(offset, length);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Ways, LongCopy,
                         testing::Values(CopyWay{"PastCaches", copy_past_caches},
                                         CopyWay{"InStreams", copy_in_streams},
                                         CopyWay{"ThroughCaches", copy_through_caches}),
                         [](const auto &way) { return way.param.name; });

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
    run.add(address(10), *block, 50, 5);
    run.add(address(15), *block, 55, 20);
    EXPECT_EQ(run.copied(), 0u);
    run.flush();
    EXPECT_EQ(run.copied(), 25u);
    EXPECT_EQ(std::memcmp(stored(50), &memory[10], 25), 0);
    EXPECT_EQ(*stored(49), std::byte{0});
    EXPECT_EQ(*stored(75), std::byte{0});
    EXPECT_TRUE(block->intact(0, 200));
}

TEST_F(CopyRunTest, AGapOnEitherSideStartsAnotherCopy) {
    CopyRun run(CopyRun::Direction::to_store);
    run.add(address(10), *block, 50, 5);
    run.add(address(16), *block, 55, 5); // gap in memory
    EXPECT_EQ(run.copied(), 5u);
    run.add(address(21), *block, 61, 5); // gap in the store
    EXPECT_EQ(run.copied(), 10u);
    run.add(address(26), *other, 66, 5); // another block
    EXPECT_EQ(run.copied(), 15u);
    run.add(address(10), *other, 71, 5); // backwards in memory
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
        run.add(address(100), *block, 0, 3);
        run.add(address(103), *block, 3, 4);
    } // its end copies the rest
    EXPECT_EQ(memory[99], 100);
    for (size_t i = 100; i < 107; ++i) {
        EXPECT_EQ(memory[i], 0xab) << i;
    }
    EXPECT_EQ(memory[107], 108);
}

TEST_F(CopyRunTest, CanGoOnAfterAFlush) {
    CopyRun run(CopyRun::Direction::to_store);
    run.add(address(0), *block, 0, 8);
    run.flush();
    memory[3] = 99;
    run.add(address(0), *block, 0, 8); // the same again
    run.flush();
    run.flush();
    EXPECT_EQ(run.copied(), 16u);
    EXPECT_EQ(*stored(3), std::byte{99});
}

struct LongCopyRun : testing::TestWithParam<bool> {
    static constexpr size_t long_part = (size_t{1} << 20) + 1;
    static constexpr size_t short_part = 1000;
    static constexpr size_t pairs = 20;
    static constexpr size_t size = pairs * (long_part + short_part);

    ~LongCopyRun() override { block->release(); }

    // All long parts, later ones past the caches, and then the short ones between them.
    size_t copy(CopyRun::Direction direction) {
        CopyRun run(direction);
        const auto add = [&](size_t at, size_t length) {
            run.add(reinterpret_cast<uintptr_t>(&memory[at]), *block, at, length);
        };
        for (size_t pair = 0; pair < pairs; ++pair) {
            add(pair * (long_part + short_part), long_part);
        }
        for (size_t pair = 0; pair < pairs; ++pair) {
            add(pair * (long_part + short_part) + long_part, short_part);
        }
        run.flush();
        return run.copied();
    }

    std::vector<uint8_t> memory = std::vector<uint8_t>(size);
    Block *block = Block::create(size, GetParam());
};

INSTANTIATE_TEST_SUITE_P(Blocks, LongCopyRun, testing::Bool(),
                         [](const auto &each) { return each.param ? "checksummed" : "plain"; });

TEST_P(LongCopyRun, CopiesEveryByteThereAndBackHoweverLongItGets) {
    for (size_t i = 0; i < size; ++i) {
        memory[i] = static_cast<uint8_t>(i * 7 + i / 251);
    }
    const auto original = memory;
    EXPECT_EQ(copy(CopyRun::Direction::to_store), size);
    EXPECT_EQ(std::memcmp(block->data(), original.data(), size), 0);
    EXPECT_TRUE(block->intact(0, size));
    std::ranges::fill(memory, uint8_t{0xee});
    EXPECT_EQ(copy(CopyRun::Direction::to_memory), size);
    EXPECT_EQ(memory, original);
}

} // namespace
} // namespace cd
