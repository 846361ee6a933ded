// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi_log_fixture.h"

// "Containment Domain API for MPI Interposition Layer"
namespace {

TEST_F(MpiLog, GetReturnsTheBytesThatWereAdded) {
    void *entry = std::malloc(16);
    std::memcpy(entry, "fifteen letters", 16);
    ASSERT_TRUE(succeeds(add_MPI_log_to_cd(root, entry, 16)));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    int error = -1;
    const void *got = get_MPI_log_from_cd(root, &error);
    EXPECT_EQ(error, CD_ERROR_NONE);
    EXPECT_STREQ(static_cast<const char *>(got), "fifteen letters");
    EXPECT_EQ(get_MPI_log_from_cd(root, nullptr), nullptr);
}

TEST_F(MpiLog, AddDuringReplayIsRefusedUntilTheLastEntryWasReturned) {
    add(root, "one");
    add(root, "two");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    char *entry = static_cast<char *>(std::malloc(1));
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_REPLAYING, add_MPI_log_to_cd(root, entry, 1),
                           {"CD 0/root/0/0 replays its MPI log and has 2 entries left"}));
    EXPECT_EQ(next(root), "one");
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_REPLAYING, add_MPI_log_to_cd(root, entry, 1)));
    EXPECT_EQ(next(root), "two");
    *entry = '3';
    EXPECT_TRUE(succeeds(add_MPI_log_to_cd(root, entry, 1)))
        << "a refused entry stayed the caller's";
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(rest(root), "one two 3 ");
}

TEST_F(MpiLog, EntriesOfAnySizeComeBackUnchanged) {
    std::string everything;
    for (const size_t size : {1U, 15U, 16U, 17U, 4095U, 4096U, 1U << 20, 3U}) {
        const std::string text(size, static_cast<char>('a' + size % 26));
        append(root, text);
        add(root, text);
        everything.append(text).append(" ").append(text).append(" ");
    }
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(rest(root), everything);
}

TEST_F(MpiLog, EntryStaysValidWhileTheReplayGoesOn) {
    append(root, "first");
    for (int i = 0; i < 1000; ++i)
        append(root, std::string(500, 'x'));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    size_t length = 0;
    const void *first = cd_log_next(root, &length, nullptr);
    rest(root);
    for (int i = 0; i < 1000; ++i)
        append(root, std::string(500, 'y'));
    EXPECT_EQ(std::string(static_cast<const char *>(first), length), "first");
}

TEST_F(MpiLog, EveryCallIsRefusedWhereLoggingIsDisabled) {
    const cd_handle silent = make_root(COMM_LOGGING_DISABLED, nullptr, "silent");
    const cd_handle child = make_child(silent);
    char *entry = static_cast<char *>(std::malloc(1));
    const cd_log_part part = {entry, 1};
    for (const cd_handle cd : {silent, child}) {
        int error = 0;
        EXPECT_TRUE(fails_with(CD_ERROR_LOG_DISABLED, add_MPI_log_to_cd(cd, entry, 1)));
        EXPECT_TRUE(fails_with(CD_ERROR_LOG_DISABLED, cd_log_append(cd, &part, 1)));
        EXPECT_TRUE(
            message_has(std::string("CD ") + (cd == silent ? "0/silent/0/0" : "0/silent/1/0")));
        EXPECT_EQ(get_MPI_log_from_cd(cd, &error), nullptr);
        EXPECT_EQ(error, CD_ERROR_LOG_DISABLED);
        EXPECT_EQ(cd_log_next(cd, nullptr, &error), nullptr);
        EXPECT_EQ(error, CD_ERROR_LOG_DISABLED);
        EXPECT_TRUE(fails_with(CD_ERROR_LOG_DISABLED, delete_MPI_log_from_cd(cd)));
    }
    std::free(entry);
}

TEST_F(MpiLog, BadEntriesAreRefused) {
    char *entry = static_cast<char *>(std::malloc(1));
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_ENTRY, add_MPI_log_to_cd(root, nullptr, 1)));
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_ENTRY, add_MPI_log_to_cd(root, entry, -1),
                           {"CD 0/root/0/0: the log entry is -1 bytes"}));
    std::free(entry);
    const cd_log_part part = {nullptr, 1};
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_ENTRY, cd_log_append(root, &part, 1)));
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_ENTRY, cd_log_append(root, nullptr, 1)));
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_ENTRY, cd_log_append(root, &part, -1)));
    EXPECT_EQ(info_of(root).log_length, 0U);
}

TEST_F(MpiLog, PartsThatAreLongerTogetherThanMemoryAreRefused) {
    char byte = 0;
    const cd_log_part wraps_to_eight[2] = {{&byte, SIZE_MAX}, {&byte, 9}};
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_ENTRY, cd_log_append(root, wraps_to_eight, 2)));
    const cd_log_part wraps_when_aligned = {&byte, SIZE_MAX - 3};
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_ENTRY, cd_log_append(root, &wraps_when_aligned, 1)));
    EXPECT_EQ(info_of(root).log_length, 0U);
}

// ---- Children ----------------------------------------------------------------------------

TEST_F(MpiLog, DeleteOfTheRestoredCdEndsTheReplayForItsDescendantsToo) {
    append(root, "r1");
    append(make_child(root), "c1");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    const cd_handle again = make_child(root);
    ASSERT_TRUE(succeeds(delete_MPI_log_from_cd(root)));
    EXPECT_EQ(info_of(again).replaying, 0);
    EXPECT_TRUE(succeeds(delete_MPI_log_from_cd(again)));
}

TEST_F(MpiLog, ReexecutionWithASiblingThatTheLogDoesNotKnowIsAnError) {
    append(root, "r1");
    make_child(root);
    append(make_child(root), "b1");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    make_child(root);
    make_child(root);
    int error = 0;
    EXPECT_EQ(create_cd(root, nullptr, MPI_LOGGING_INHERIT, nullptr, &error), nullptr);
    EXPECT_EQ(error, CD_ERROR_LOG_SIBLINGS);
    EXPECT_TRUE(
        message_has("CD 0/root/0/0: the re-execution creates sibling 2 of this thread at depth 1"));
    EXPECT_EQ(info_of(root).children, 2);
}

TEST_F(MpiLog, DeleteInASiblingIsRefusedWhileItReplaysForTheParent) {
    append(root, "r1");
    const cd_handle first = make_child(root);
    append(make_child(root), "b1");
    append(first, "a1");
    make_child(first);
    append(make_child(first), "n1"); // in a log of its own, below the first sibling's
    ASSERT_TRUE(succeeds(restore_cd(root)));
    const cd_handle first_again = make_child(root);
    const cd_handle second_again = make_child(root);
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_REPLAYING, delete_MPI_log_from_cd(second_again)));
    EXPECT_EQ(rest(second_again), "b1 ");
    EXPECT_TRUE(succeeds(delete_MPI_log_from_cd(second_again)));
    EXPECT_EQ(rest(first_again), "r1 a1 ");
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_REPLAYING, delete_MPI_log_from_cd(first_again)))
        << "a child that is still to come has entries left";
    make_child(first_again);
    EXPECT_EQ(rest(make_child(first_again)), "n1 ");
    EXPECT_TRUE(succeeds(delete_MPI_log_from_cd(first_again)));
}

} // namespace
