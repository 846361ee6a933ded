// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "logger_path.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>

// cd_log_enter and cd_log_written.
namespace {

class EntryOfKnownLength : public LoggerPath {};

TEST_F(EntryOfKnownLength, IsReadLikeTheOthers) {
    const cd_handle root = make_root(COMM_LOGGING_ENABLED);
    write("one");
    for (const std::string text : {"", "two", "seventeen letters", "four"}) {
        const cd_log_place place = here();
        const cd_log_entry entry = cd_log_enter(text.size());
        ASSERT_NE(entry.at, nullptr);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(entry.at) % 16, 0U);
        std::memcpy(entry.at, text.data(), text.size());
        cd_log_written(entry);
        EXPECT_EQ(here().entry, place.entry + 1);
    }
    write("five");
    EXPECT_EQ(info_of(root).log_length, 6U);
    EXPECT_EQ(info_of(root).log_bytes, 31U);
    ASSERT_TRUE(succeeds(restore_cd(root)));
    for (const char *text : {"one", "", "two", "seventeen letters", "four", "five"}) {
        EXPECT_EQ(read(), text);
    }
    EXPECT_EQ(cd_log_mode(), CD_LOG_RECORDING);
}

TEST_F(EntryOfKnownLength, FillsAChunkToItsEnd) {
    const cd_handle root = make_root(COMM_LOGGING_ENABLED);
    const cd_log_room room = cd_log_open(1);
    ASSERT_NE(room.at, nullptr);
    cd_log_close(0);
    const size_t left = room.size - 16; // of the next one's header
    EXPECT_EQ(cd_log_enter(left + 1).at, nullptr);
    const cd_log_entry entry = cd_log_enter(left);
    ASSERT_NE(entry.at, nullptr);
    std::memset(entry.at, 'x', left);
    cd_log_written(entry);
    EXPECT_EQ(cd_log_enter(0).at, nullptr) << "the next one needs another chunk";
    write("last");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(read(), "");
    EXPECT_EQ(read(), std::string(left, 'x'));
    EXPECT_EQ(read(), "last");
}

TEST_F(EntryOfKnownLength, IsRefusedWhereMoreThanAnAppendIsNeeded) {
    EXPECT_EQ(cd_log_enter(3).at, nullptr) << "there is no CD";
    const cd_handle silent = make_root(COMM_LOGGING_DISABLED);
    EXPECT_EQ(cd_log_enter(3).at, nullptr) << "it does not log";
    ASSERT_TRUE(succeeds(commit_cd(silent)));
    const cd_handle root = make_root(COMM_LOGGING_ENABLED);
    EXPECT_EQ(cd_log_enter(3).at, nullptr) << "there is no chunk yet";
    write("one");
    for (const size_t less : {0, 1, 15, 16, 17, 4096}) {
        EXPECT_EQ(cd_log_enter(SIZE_MAX - less).at, nullptr);
    }
    ASSERT_NE(cd_log_open(3).at, nullptr);
    EXPECT_EQ(cd_log_enter(3).at, nullptr) << "another one is open";
    cd_log_close(3);
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(cd_log_enter(3).at, nullptr) << "it is being replayed";
    read();
    read();
    const cd_log_entry entry = cd_log_enter(3);
    ASSERT_NE(entry.at, nullptr);
    cd_log_written(entry);
    EXPECT_EQ(info_of(root).log_length, 3U) << "nothing else has come of all that";
}

TEST_F(EntryOfKnownLength, IsRefusedInsideACallback) {
    const cd_handle silent = make_root(COMM_LOGGING_DISABLED, nullptr, "silent");
    const auto enter = [](cd_addrspec *, int) { return cd_log_enter(3).at == nullptr ? 0 : 1; };
    uint8_t byte = 0;
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(silent, {bytes(&byte, 1, READ_ONLY)}, 1, enter)));
    const cd_handle root = make_root(COMM_LOGGING_ENABLED); // records meanwhile
    write("one");
    EXPECT_TRUE(succeeds(restore_cd(silent)));
    EXPECT_EQ(info_of(root).log_length, 1U);
}

TEST_F(EntryOfKnownLength, IsWaitedForByOthers) {
    const cd_handle root = make_root(COMM_LOGGING_ENABLED);
    write("one");
    const cd_log_entry entry = cd_log_enter(3);
    ASSERT_NE(entry.at, nullptr);
    std::atomic<bool> known = false;
    std::thread other([&] {
        EXPECT_EQ(info_of(root).log_length, 2U);
        known = true;
    });
    EXPECT_FALSE(comes_true(known));
    std::memcpy(entry.at, "two", 3);
    cd_log_written(entry);
    other.join();
    EXPECT_TRUE(known);
}

} // namespace
