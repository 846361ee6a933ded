// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi_log/log.h"

#include "../replaced_system.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace cd {
namespace {

constexpr size_t chunk = size_t{256} << 10;

struct LogTest : testing::Test {
    bool append(const std::string &text) {
        const cd_log_part part = {text.data(), text.size()};
        return stream.append(&part, 1);
    }

    // Everything from the cursor on.
    std::vector<std::string> rest() {
        std::vector<std::string> entries;
        size_t length = 0;
        while (const void *entry = stream.next(length)) {
            EXPECT_EQ(reinterpret_cast<uintptr_t>(entry) % 16, 0u);
            entries.emplace_back(static_cast<const char *>(entry), length);
        }
        return entries;
    }

    std::vector<std::string> replay_from(const Log::Position &position) {
        stream.rewind(position, 0);
        return rest();
    }

    CountedPages pages;
    Log stream;
};

// Entries whose sizes meet the ends of chunks in many ways.
std::vector<std::string> many_entries(size_t count) {
    std::vector<std::string> entries;
    for (size_t i = 0; i < count; ++i) {
        entries.emplace_back(i * 977 % 5000, static_cast<char>('a' + i % 26));
    }
    return entries;
}

using Entries = std::vector<std::string>;

TEST_F(LogTest, IsFirstInFirstOutAcrossChunks) {
    const Entries entries = many_entries(500);
    size_t bytes = 0;
    for (size_t i = 0; i < entries.size(); ++i) {
        ASSERT_TRUE(append(entries[i]));
        bytes += entries[i].size();
    }
    EXPECT_GE(pages.maps, 3u); // else no chunk's end was met
    EXPECT_EQ(stream.end().entries, 500u);
    EXPECT_EQ(stream.end().bytes, bytes);
    EXPECT_EQ(rest(), Entries()) << "live, so nothing is to be replayed";
    EXPECT_EQ(replay_from(stream.begin()), entries);
    EXPECT_EQ(replay_from(stream.begin()), entries);
}

TEST_F(LogTest, ReplaysFromAnyPosition) {
    const Entries entries = many_entries(400);
    std::vector<Log::Position> before_entry;
    for (const std::string &entry : entries) {
        before_entry.push_back(stream.end());
        ASSERT_TRUE(append(entry));
    }
    for (size_t i = 0; i < entries.size(); i += 13) {
        const Entries expected(entries.begin() + static_cast<long>(i), entries.end());
        ASSERT_EQ(replay_from(before_entry[i]), expected) << i;
    }
}

TEST_F(LogTest, ALongLogTakesFewChunks) {
    const std::string entry(chunk / 2, 'x');
    Entries entries;
    for (size_t i = 0; i < 256; ++i) {
        entries.push_back(entry);
        ASSERT_TRUE(append(entry));
    }
    EXPECT_LE(pages.maps, 16u);
    EXPECT_LE(pages.mapped, 2 * stream.end().bytes);
    EXPECT_EQ(replay_from(stream.begin()), entries);
}

TEST_F(LogTest, KeepsTheNewestWithinTheMemoryThatItIsGiven) {
    constexpr uint64_t kept = 64 << 10;
    stream.keep_newest(kept);
    Entries entries = many_entries(3000);
    uint64_t bytes = 0;
    for (size_t i = 0; i < entries.size(); ++i) {
        entries[i] += std::to_string(i);
        bytes += entries[i].size();
        ASSERT_TRUE(append(entries[i]));
        ASSERT_LE(pages.mapped, kept);
    }
    const Log::Places now = stream.places();
    EXPECT_EQ(now.end.entries, entries.size());
    EXPECT_GE(now.end.bytes - now.begin.bytes, kept / 2);
    const Entries newest(entries.begin() + static_cast<long>(now.begin.entries), entries.end());
    EXPECT_EQ(replay_from(now.begin), newest);
    EXPECT_EQ(replay_from(Log::Position()), newest) << "what lies before is not there";
    for (const std::string &entry : newest) {
        bytes -= entry.size();
    }
    EXPECT_EQ(now.begin.bytes, bytes);
}

TEST_F(LogTest, KeepsTheNewestEntryHoweverLongItIs) {
    stream.keep_newest(10000);
    for (const size_t size : {100, 5000, 50000, 20, 30000, 30000}) {
        const std::string entry(size, 'x');
        cd_log_room room = {};
        ASSERT_TRUE(stream.open(1, room)); // and widened, which moves it to another chunk
        ASSERT_TRUE(stream.widen(1, entry.size(), room));
        std::memcpy(room.at, entry.data(), entry.size());
        stream.close_entry(entry.size());
        const Log::Places now = stream.places();
        ASSERT_GE(now.end.entries - now.begin.entries, 1u);
        ASSERT_EQ(replay_from(now.begin).back(), entry);
    }
}

// A place may lie in a chunk without entries, which goes before the entry that follows it does.
TEST_F(LogTest, OfTheNewestAPlaceIsFoundWhoseChunkIsGone) {
    stream.keep_newest(8 * chunk);
    ASSERT_TRUE(append("forgotten"));
    stream.trim(stream.end());
    const Log::Position empty = stream.begin();
    Entries entries;
    while (stream.begin().chunk == empty.chunk) {
        ASSERT_LT(entries.size(), 10u) << "the empty chunk stays";
        entries.emplace_back(3 * chunk / 2, static_cast<char>('a' + entries.size()));
        ASSERT_TRUE(append(entries.back()));
    }
    ASSERT_EQ(stream.begin(), empty) << "no entry has gone";
    stream.rewind(empty, 0);
    ASSERT_EQ(stream.cursor().chunk, stream.begin().chunk);
    EXPECT_EQ(rest(), entries);
}

TEST_F(LogTest, TrimsInTheMiddle) {
    const Entries entries = many_entries(500);
    Log::Position middle;
    for (size_t i = 0; i < entries.size(); ++i) {
        if (i == 300) {
            middle = stream.end();
        }
        ASSERT_TRUE(append(entries[i]));
    }
    const size_t before = pages.mapped;
    stream.trim(middle);
    EXPECT_EQ(stream.begin(), middle);
    EXPECT_EQ(stream.end().entries, 500u);
    PagePool::instance().trim();
    EXPECT_LT(pages.mapped, before) << "no chunk was freed";
    const Entries expected(entries.begin() + 300, entries.end());
    EXPECT_EQ(replay_from(stream.begin()), expected);
    ASSERT_TRUE(append("more"));
    EXPECT_EQ(replay_from(stream.begin()).back(), "more");
}

TEST_F(LogTest, StartsOverInTheSameChunkWhenNothingIsLeft) {
    for (int round = 0; round < 100; ++round) {
        for (const std::string &entry : {std::string(3000, 'a'), std::string(3000, 'b')}) {
            ASSERT_TRUE(append(entry));
            ASSERT_TRUE(append(entry));
        }
        ASSERT_EQ(replay_from(stream.begin()).size(), 4u);
        stream.trim(stream.cursor());
        ASSERT_EQ(rest(), Entries());
        ASSERT_FALSE(stream.replaying());
    }
    EXPECT_EQ(pages.maps, 1u);
    EXPECT_EQ(stream.end().entries, 400u);
}

TEST_F(LogTest, WithoutMemoryNothingChanges) {
    pages.allowed_maps = 0;
    EXPECT_FALSE(append("one"));
    EXPECT_EQ(stream.end().entries, 0u);
    pages.allowed_maps = 1;
    const std::string large(chunk / 2 + 1, 'x');
    EXPECT_TRUE(append(large));
    EXPECT_FALSE(append(large)); // needs a second chunk
    EXPECT_TRUE(append("two"));  // fits into the first one
    EXPECT_FALSE(stream.replaying());
    EXPECT_EQ(replay_from(stream.begin()), (Entries{large, "two"}));
}

TEST_F(LogTest, AnEntryThatTurnsOutLongerKeepsWhatIsWritten) {
    for (const size_t before : {size_t{0}, size_t{1000}, chunk - 1000}) {
        const auto begin = stream.end();
        const std::string filling(before, 'f');
        ASSERT_TRUE(append(filling));
        std::string text;
        cd_log_room room = {};
        ASSERT_TRUE(stream.open(1, room));
        for (const size_t size : {size_t{100}, size_t{5000}, chunk, 3 * chunk}) {
            ASSERT_TRUE(stream.widen(text.size(), size, room));
            ASSERT_GE(room.size, size);
            std::memset(static_cast<char *>(room.at) + text.size(),
                        static_cast<char>('a' + text.size() % 26), size - text.size());
            text.append(size - text.size(), static_cast<char>('a' + text.size() % 26));
        }
        stream.close_entry(text.size());
        ASSERT_TRUE(append("next"));
        EXPECT_EQ(replay_from(begin), (Entries{filling, text, "next"}));
    }
}

TEST_F(LogTest, AnEntryOfManyPiecesTakesAFewTimesItsLength) {
    constexpr size_t length = 4 * chunk;
    constexpr size_t piece = 1000;
    const auto begin = stream.end();
    std::string text;
    cd_log_room room = {};
    ASSERT_TRUE(stream.open(1, room));
    while (text.size() < length) {
        ASSERT_TRUE(stream.widen(text.size(), text.size() + piece, room));
        std::memset(static_cast<char *>(room.at) + text.size(), 'p', piece);
        text.append(piece, 'p');
    }
    stream.close_entry(length);
    text.resize(length);
    EXPECT_LE(pages.maps, 5u);
    PagePool::instance().trim();
    EXPECT_LE(pages.mapped, 2 * length + chunk) << "what was too small was kept";
    ASSERT_TRUE(append("next"));
    EXPECT_EQ(replay_from(begin), (Entries{text, "next"}));
}

TEST_F(LogTest, AnEntryThatMovesOnLeavesPlacesThatAreRemembered) {
    ASSERT_TRUE(append("gone"));
    stream.trim(stream.end());
    const auto begin = stream.end(); // in a chunk without entries
    cd_log_room room = {};
    ASSERT_TRUE(stream.open(1, room));
    ASSERT_TRUE(stream.widen(0, 2 * chunk, room));
    std::memset(room.at, 'm', 2 * chunk);
    stream.close_entry(2 * chunk);
    PagePool::instance().trim();
    EXPECT_EQ(replay_from(begin), (Entries{std::string(2 * chunk, 'm')}));
}

TEST_F(LogTest, AnAbandonedEntryIsNone) {
    cd_log_room room = {};
    ASSERT_TRUE(append("one"));
    for (const size_t size : {size_t{100}, chunk, 2 * chunk, 3 * chunk}) {
        ASSERT_TRUE(stream.open(size, room)); // leaves a chunk without entries
        stream.abandon();
    }
    ASSERT_TRUE(append("two"));
    EXPECT_EQ(replay_from(stream.begin()), (Entries{"one", "two"}));
}

TEST_F(LogTest, WithoutMemoryAnOpenEntryIsAsItWas) {
    pages.allowed_maps = 1;
    cd_log_room room = {};
    ASSERT_TRUE(stream.open(5, room));
    std::memcpy(room.at, "abcde", 5);
    const cd_log_room before = room;
    EXPECT_FALSE(stream.widen(5, 2 * chunk, room));
    EXPECT_EQ(room.at, before.at);
    stream.close_entry(5);
    EXPECT_EQ(replay_from(stream.begin()), (Entries{"abcde"}));
}

TEST_F(LogTest, ParentAndChildMayAppendAtTheSameTime) {
    constexpr int each = 5000;
    const auto append_many = [&](char name) {
        for (int i = 0; i < each; ++i) {
            append(name + std::to_string(i));
        }
    };
    std::thread other([&] { append_many('b'); });
    stream.own();
    append_many('a');
    stream.disown();
    other.join();
    int next_of[] = {0, 0};
    for (const std::string &entry : replay_from(stream.begin())) {
        int &next = next_of[entry[0] - 'a'];
        ASSERT_EQ(entry.substr(1), std::to_string(next));
        ++next;
    }
    EXPECT_EQ(next_of[0], each);
    EXPECT_EQ(next_of[1], each);
}

} // namespace
} // namespace cd
