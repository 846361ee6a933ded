// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// log_limit: what the MPI log has no memory for lies in a file.
#include "cd/mpi_log.h"

#include "fixture.h"

#include <string>
#include <vector>

namespace {

constexpr size_t entry_size = 4000;

std::string entry_of(int number) {
    return std::string(entry_size, static_cast<char>('a' + number % 26)) + std::to_string(number);
}

struct LogLimit : CdTest {
    static cd_handle make(const char *storage) {
        int error = 0;
        const cd_handle root = create_cd(nullptr, storage, COMM_LOGGING_ENABLED, "root", &error);
        EXPECT_EQ(error, CD_ERROR_NONE) << cd_last_error_message();
        return root;
    }

    static void append(cd_handle cd, int from, int to) {
        for (int i = from; i < to; ++i) {
            const std::string text = entry_of(i);
            const cd_log_part part = {text.data(), text.size()};
            ASSERT_TRUE(succeeds(cd_log_append(cd, &part, 1)));
        }
    }

    static void expect(cd_handle cd, int from, int to) {
        for (int i = from; i < to; ++i) {
            size_t length = 0;
            int error = 0;
            const void *entry = cd_log_next(cd, &length, &error);
            ASSERT_NE(entry, nullptr) << i << ": " << cd_last_error_message();
            ASSERT_EQ(std::string(static_cast<const char *>(entry), length), entry_of(i));
        }
    }
};

TEST_F(LogLimit, WhatExceedsItIsReplayedAllTheSame) {
    const cd_handle root = make("log_limit=256K");
    append(root, 0, 500);
    const cd_handle child = create_cd(root, nullptr, COMM_LOGGING_INHERIT, nullptr, nullptr);
    append(child, 500, 1000);
    EXPECT_EQ(info_of(root).log_length, 1000U);
    EXPECT_GT(info_of(root).log_bytes, 1000 * entry_size);
    EXPECT_GT(info_of(root).log_in_files, 1000U);
    EXPECT_EQ(info_of(child).log_length, 500U);
    ASSERT_TRUE(succeeds(restore_cd(child)));
    expect(child, 500, 1000);
    ASSERT_TRUE(succeeds(commit_cd(child)));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    expect(root, 0, 1000);
    append(root, 1000, 1100);
    ASSERT_TRUE(succeeds(restore_cd(root)));
    expect(root, 0, 300);
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    EXPECT_EQ(info_of(root).log_length, 800U);
    expect(root, 300, 1100);
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    EXPECT_EQ(info_of(root).log_in_files, 0U);
    ASSERT_TRUE(succeeds(commit_cd(root)));
}

TEST_F(LogLimit, AFileThatCannotBeMadeIsAnErrorWithItsDirectory) {
    const cd_handle root = make("log_limit=256K,dir=/proc/nowhere");
    const std::string text(entry_size, 'x');
    const cd_log_part part = {text.data(), text.size()};
    int added = 0;
    while (cd_log_append(root, &part, 1) == SUCCESS) {
        ASSERT_LT(++added, 1000);
    }
    EXPECT_EQ(cd_last_error(), CD_ERROR_LOG_SPILL);
    EXPECT_NE(std::string(cd_last_error_message()).find("/proc/nowhere"), std::string::npos)
        << cd_last_error_message();
    EXPECT_EQ(info_of(root).log_length, static_cast<size_t>(added));
    EXPECT_EQ(cd_log_open(entry_size).at, nullptr);
    char trouble[300];
    EXPECT_TRUE(cd_log_trouble(trouble, sizeof trouble));
    EXPECT_NE(std::string(trouble).find("/proc/nowhere"), std::string::npos) << trouble;
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    EXPECT_TRUE(succeeds(cd_log_append(root, &part, 1))) << "there is room now";
    ASSERT_TRUE(succeeds(commit_cd(root)));
}

TEST_F(LogLimit, NothingIsRestoredOfWhichTheLogLacksEntries) {
    const cd_handle root = make("log_limit=256K");
    const cd_handle before = create_cd(root, nullptr, COMM_LOGGING_INHERIT, nullptr, nullptr);
    append(before, 0, 1);
    EXPECT_EQ(cd_log_open(size_t{1} << 50).at, nullptr);
    append(before, 1, 2);
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_INCOMPLETE, restore_cd(before)));
    EXPECT_EQ(info_of(before).replaying, 0);
    append(before, 2, 3);
    const cd_handle beside = create_cd(root, nullptr, COMM_LOGGING_INHERIT, nullptr, nullptr);
    cd_log_room room = cd_log_open(1);
    ASSERT_NE(room.at, nullptr);
    EXPECT_FALSE(cd_log_widen(&room, 1, size_t{1} << 50));
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_INCOMPLETE, restore_cd(beside)));
    const cd_handle behind = create_cd(beside, nullptr, COMM_LOGGING_INHERIT, nullptr, nullptr);
    append(behind, 0, 1);
    EXPECT_TRUE(succeeds(restore_cd(behind))) << "its own log lacks nothing";
    expect(behind, 0, 1);
    ASSERT_TRUE(succeeds(commit_cd(behind)));
    ASSERT_TRUE(succeeds(commit_cd(beside)));
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(before)));
    EXPECT_TRUE(succeeds(restore_cd(before)));
    ASSERT_TRUE(succeeds(commit_cd(before)));
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_INCOMPLETE, restore_cd(root)));
    ASSERT_TRUE(succeeds(delete_MPI_log_from_cd(root)));
    EXPECT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(cd_log_open(size_t{1} << 50).at, nullptr);
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    EXPECT_TRUE(succeeds(restore_cd(root)));
    ASSERT_TRUE(succeeds(commit_cd(root)));
}

TEST_F(LogLimit, AnEntryThatIsTooLongForAnythingTakesNoRoomFromOthers) {
    const cd_handle root = make("log_limit=64M");
    append(root, 0, 1);
    EXPECT_EQ(cd_log_open(size_t{1} << 50).at, nullptr);
    append(root, 1, 5000); // a third of the limit
    EXPECT_EQ(info_of(root).log_in_files, 0U);
    ASSERT_TRUE(succeeds(commit_cd(root)));
}

} // namespace
