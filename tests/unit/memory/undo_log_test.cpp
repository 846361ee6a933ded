// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "memory/undo_log.h"

#include "../replaced_system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

namespace cd {
namespace {

constexpr size_t page = Block::page;

struct UndoLogTest : testing::TestWithParam<bool> {
    UndoLogTest() : old_bytes(size) {
        for (size_t i = 0; i < size; ++i) {
            old_bytes[i] = static_cast<std::byte>(i * 13 + i / 256);
        }
        block->write(0, old_bytes.data(), size);
        piece = Piece(*block, 10); // off the pages' borders
        block->release();
        memory.assign(old_bytes.begin() + 10, old_bytes.end());
        log.emplace();
    }

    bool stored(const std::vector<std::byte> &bytes) const {
        return std::ranges::equal(bytes, std::vector(block->data(), block->data() + size)) &&
               block->intact(0, size);
    }

    // Returns the block's content once memory is taken over.
    std::vector<std::byte> new_bytes() const {
        auto bytes = old_bytes;
        std::ranges::copy(memory, bytes.begin() + 10);
        return bytes;
    }

    static constexpr size_t size = 4 * page + 100;
    Block *block = Block::create(size, GetParam());
    std::vector<std::byte> old_bytes;
    std::vector<std::byte> memory; // of the application
    Piece piece;
    std::optional<UndoLog> log;
};

INSTANTIATE_TEST_SUITE_P(Blocks, UndoLogTest, testing::Bool(),
                         [](const auto &each) { return each.param ? "checksummed" : "plain"; });

TEST_P(UndoLogTest, TakesEverythingBack) {
    std::ranges::fill(memory, std::byte{0xee});
    log->overwrite(piece, memory.data(), memory.size());
    EXPECT_TRUE(stored(new_bytes()));
    log.reset();
    EXPECT_TRUE(stored(old_bytes));
}

TEST_P(UndoLogTest, TakesNothingBackThatIsKept) {
    std::ranges::fill(memory, std::byte{0xee});
    log->overwrite(piece, memory.data(), memory.size());
    log->keep();
    log.reset();
    EXPECT_TRUE(stored(new_bytes()));
}

TEST_P(UndoLogTest, RemembersOnlyWhatChanges) {
    log->overwrite(piece, memory.data(), memory.size());
    log->overwrite(piece, memory.data(), 0);
    EXPECT_EQ(log->overwritten(), 0u);
    memory[page + 5] ^= std::byte{1};
    memory[memory.size() - 1] ^= std::byte{1}; // in a last part of 90 bytes
    log->overwrite(piece, memory.data(), memory.size());
    EXPECT_EQ(log->overwritten(), page + 90);
    EXPECT_TRUE(stored(new_bytes()));
    log.reset();
    EXPECT_TRUE(stored(old_bytes));
}

TEST_P(UndoLogTest, TakesBackInReverseOrder) {
    for (const int value : {1, 2, 3}) {
        std::ranges::fill(memory, static_cast<std::byte>(value));
        log->overwrite(piece, memory.data(), memory.size());
        log->overwrite(piece.share(100), memory.data(), page);
    }
    log.reset();
    EXPECT_TRUE(stored(old_bytes));
}

// The old bytes are so many that they lie in several pieces of memory.
TEST(UndoLog, TakesBackHoweverMuchHasChanged) {
    constexpr size_t size = 3'000'001;
    const std::vector<std::byte> old_bytes(size, std::byte{1});
    const std::vector<std::byte> new_bytes(size, std::byte{2});
    Block *block = Block::create(size, false);
    const Piece piece = Piece::adopt(*block, 0);
    block->write(0, old_bytes.data(), size);
    {
        UndoLog log;
        for (size_t at = 0; at < size; at += 1001) {
            log.overwrite(piece.share(at), &new_bytes[at], std::min<size_t>(1001, size - at));
        }
        EXPECT_EQ(log.overwritten(), size);
        EXPECT_EQ(std::memcmp(block->data(), new_bytes.data(), size), 0);
    }
    EXPECT_EQ(std::memcmp(block->data(), old_bytes.data(), size), 0);
}

TEST(UndoLog, UsesTheMemoryOfTheOneBefore) {
    constexpr size_t size = size_t{1} << 20;
    CountedPages pages;
    const std::vector<std::byte> bytes(size, std::byte{1});
    Block *block = Block::create(size, false);
    const Piece piece = Piece::adopt(*block, 0);
    const size_t without_log = pages.maps;
    size_t maps = without_log;
    for (const int value : {2, 3, 4}) {
        std::memset(block->data(), value, size);
        UndoLog log;
        log.overwrite(piece, bytes.data(), size);
        log.keep();
        EXPECT_TRUE(maps == without_log || pages.maps == maps);
        maps = pages.maps;
    }
    EXPECT_GT(maps, without_log) << "the old bytes are not in mapped pages";
}

TEST(UndoLog, DoesNotSealOldDamageWhenItTakesBack) {
    Block *block = Block::create(Block::page, true);
    Piece piece(*block, 0);
    block->release();
    const std::vector<std::byte> old_bytes(Block::page, std::byte{1});
    const std::vector<std::byte> new_bytes(Block::page, std::byte{2});
    piece.block().write(piece.offset(), old_bytes.data(), old_bytes.size());
    piece.at()[5] ^= std::byte{1};
    {
        UndoLog log;
        log.overwrite(piece, new_bytes.data(), new_bytes.size());
        EXPECT_TRUE(piece.block().intact(piece.offset(), 1));
    }
    EXPECT_FALSE(piece.block().intact(piece.offset(), 1));
}

} // namespace
} // namespace cd
