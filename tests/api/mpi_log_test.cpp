// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi_log_fixture.h"

// "Containment Domain API for MPI Interposition Layer"
namespace {

// ---- One CD ------------------------------------------------------------------------------

TEST_F(MpiLog, ReplaysInOrderAndEndsWithNull) {
    add(root, "one");
    append(root, "two");
    add(root, "three");
    EXPECT_EQ(info_of(root).log_length, 3U);
    EXPECT_EQ(info_of(root).log_bytes, 11U);
    EXPECT_EQ(info_of(root).log_remaining, 0U);
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(info_of(root).replaying, 1);
    EXPECT_EQ(info_of(root).log_remaining, 3U);
    EXPECT_EQ(next(root), "one");
    EXPECT_EQ(next(root), "two");
    EXPECT_EQ(info_of(root).log_remaining, 1U);
    EXPECT_EQ(next(root), "three");
    EXPECT_EQ(info_of(root).replaying, 0);
    EXPECT_EQ(next(root), "");
    EXPECT_EQ(next(root), "");
}

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

TEST_F(MpiLog, GetWithoutARestoreReturnsNull) {
    add(root, "one");
    EXPECT_EQ(next(root), "");
    add(root, "two");
}

TEST_F(MpiLog, RestoreOfAnEmptyLogReplaysNothing) {
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(info_of(root).replaying, 0);
    add(root, "one");
}

TEST_F(MpiLog, AddDuringReplayIsRefusedUntilTheLastEntryWasReturned) {
    add(root, "one");
    add(root, "two");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    char *entry = static_cast<char *>(std::malloc(1));
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_REPLAYING, add_MPI_log_to_cd(root, entry, 1)));
    EXPECT_TRUE(message_has("CD 0/root/0/0 replays its MPI log and has 2 entries left"));
    EXPECT_EQ(next(root), "one");
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_REPLAYING, add_MPI_log_to_cd(root, entry, 1)));
    EXPECT_EQ(next(root), "two");
    *entry = '3';
    EXPECT_TRUE(succeeds(add_MPI_log_to_cd(root, entry, 1)))
        << "a refused entry stayed the caller's";
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(rest(root), "one two 3 ");
}

TEST_F(MpiLog, RestoreInTheMiddleOfAReplayBeginsAgain) {
    add(root, "one");
    add(root, "two");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(next(root), "one");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(rest(root), "one two ");
}

TEST_F(MpiLog, AdvanceForgetsWhatCameBefore) {
    add(root, "one");
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    EXPECT_EQ(info_of(root).log_length, 0U);
    EXPECT_EQ(info_of(root).log_bytes, 0U);
    add(root, "two");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(rest(root), "two ");
}

TEST_F(MpiLog, AdvanceDuringAReplayKeepsWhatWasNotReplayed) {
    add(root, "one");
    add(root, "two");
    add(root, "three");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(next(root), "one");
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    EXPECT_EQ(info_of(root).replaying, 1);
    EXPECT_EQ(info_of(root).log_remaining, 2U);
    EXPECT_EQ(info_of(root).log_length, 2U);
    EXPECT_EQ(next(root), "two");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(rest(root), "two three ");
}

TEST_F(MpiLog, DeleteForgetsTheLogAndEndsAReplay) {
    add(root, "one");
    add(root, "two");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(next(root), "one");
    ASSERT_TRUE(succeeds(delete_MPI_log_from_cd(root)));
    EXPECT_EQ(info_of(root).replaying, 0);
    EXPECT_EQ(info_of(root).log_length, 0U);
    add(root, "three");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(rest(root), "three ");
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

TEST_F(MpiLog, PartsOfAnAppendedEntryAreJoined) {
    const cd_log_part parts[4] = {{"head", 4}, {nullptr, 0}, {"er+", 3}, {"payload", 7}};
    ASSERT_TRUE(succeeds(cd_log_append(root, parts, 4)));
    EXPECT_EQ(info_of(root).log_length, 1U);
    EXPECT_EQ(info_of(root).log_bytes, 14U);
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(rest(root), "header+payload ");
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
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_ENTRY, add_MPI_log_to_cd(root, entry, -1)));
    EXPECT_TRUE(message_has("CD 0/root/0/0: the log entry is -1 bytes"));
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

// ---- A chain of CDs shares one log, of which each owns a suffix ------------------------------

class MpiLogChain : public MpiLog {
protected:
    void SetUp() override {
        MpiLog::SetUp();
        append(root, "r1");
        child = make_child(root);
        append(CURRENT_CD, "c1");
        append(CURRENT_CD, "c2");
    }

    cd_handle child;
};

TEST_F(MpiLogChain, EachOwnsWhatCameAfterItsPointInTime) {
    EXPECT_EQ(info_of(root).log_length, 3U);
    EXPECT_EQ(info_of(child).log_length, 2U);
    const cd_handle grandchild = make_child(child);
    append(grandchild, "g1");
    EXPECT_EQ(info_of(root).log_length, 4U);
    EXPECT_EQ(info_of(child).log_length, 3U);
    EXPECT_EQ(info_of(grandchild).log_length, 1U);
}

TEST_F(MpiLogChain, RestoreOfTheChildReplaysItsPartOnly) {
    ASSERT_TRUE(succeeds(restore_cd(child)));
    EXPECT_EQ(rest(child), "c1 c2 ");
    append(child, "c3");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(rest(root), "r1 c1 c2 c3 ");
}

TEST_F(MpiLogChain, CommitOfTheChildMergesItsPartIntoTheParents) {
    ASSERT_TRUE(succeeds(commit_cd(child)));
    append(root, "r2");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(rest(root), "r1 c1 c2 r2 ");
}

TEST_F(MpiLogChain, RestoreOfTheParentReplaysTheDiscardedChildsPartToo) {
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(info_of(root).log_remaining, 3U);
    EXPECT_EQ(rest(root), "r1 c1 c2 ");
}

TEST_F(MpiLogChain, AdvanceOfTheChildForgetsItsPartForItselfOnly) {
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(child)));
    EXPECT_EQ(info_of(child).log_length, 0U);
    EXPECT_EQ(info_of(root).log_length, 3U);
    append(child, "c3");
    ASSERT_TRUE(succeeds(restore_cd(child)));
    EXPECT_EQ(rest(child), "c3 ");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(rest(root), "r1 c1 c2 c3 ");
}

TEST_F(MpiLogChain, DeleteInTheChildLeavesTheAncestorsPartAlone) {
    ASSERT_TRUE(succeeds(delete_MPI_log_from_cd(child)));
    EXPECT_EQ(info_of(child).log_length, 0U);
    EXPECT_EQ(info_of(root).log_length, 3U);
    append(child, "c3");
    ASSERT_TRUE(succeeds(restore_cd(child)));
    EXPECT_EQ(rest(child), "c3 ");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(rest(root), "r1 c1 c2 c3 ");
}

TEST_F(MpiLogChain, ChildCreatedDuringAReplayConsumesFromTheAncestorsLog) {
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(next(root), "r1");
    const cd_handle again = make_child(root);
    EXPECT_EQ(info_of(again).replaying, 1);
    EXPECT_EQ(info_of(again).log_remaining, 2U);
    EXPECT_EQ(next(again), "c1");
    char byte = 0;
    const cd_log_part part = {&byte, 1};
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_REPLAYING, cd_log_append(again, &part, 1)));
    EXPECT_EQ(next(again), "c2");
    EXPECT_EQ(next(again), "");
    append(again, "c3");
    EXPECT_EQ(info_of(again).log_length, 3U);
}

TEST_F(MpiLogChain, ChildCanBeRestoredInTheMiddleOfTheAncestorsReplay) {
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(next(root), "r1");
    const cd_handle again = make_child(root);
    EXPECT_EQ(next(again), "c1");
    ASSERT_TRUE(succeeds(restore_cd(again)));
    EXPECT_EQ(rest(again), "c1 c2 ") << "its own part, not the root's";
}

TEST_F(MpiLogChain, AdvanceOfAChildDuringAReplayKeepsWhatWasNotReplayed) {
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(next(root), "r1");
    const cd_handle again = make_child(root);
    EXPECT_EQ(next(again), "c1");
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(again)));
    EXPECT_EQ(next(again), "c2");
    ASSERT_TRUE(succeeds(restore_cd(again)));
    EXPECT_EQ(rest(again), "c2 ");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(rest(root), "r1 c1 c2 ");
}

TEST_F(MpiLogChain, DeleteInAChildIsRefusedWhileTheAncestorsReplayIsUnderWay) {
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(next(root), "r1");
    const cd_handle again = make_child(root);
    EXPECT_EQ(next(again), "c1");
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_REPLAYING, delete_MPI_log_from_cd(again)));
    ASSERT_TRUE(succeeds(restore_cd(again)));
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_REPLAYING, delete_MPI_log_from_cd(again)))
        << "the child's own replay is part of the root's";
    EXPECT_EQ(rest(again), "c1 c2 ");
    EXPECT_TRUE(succeeds(delete_MPI_log_from_cd(again)));
    append(again, "c3");
    ASSERT_TRUE(succeeds(restore_cd(again)));
    EXPECT_TRUE(succeeds(delete_MPI_log_from_cd(again))) << "this replay is the child's alone";
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(rest(root), "r1 c1 c2 c3 ");
}

TEST_F(MpiLogChain, DeleteOfTheRestoredCdEndsTheReplayForItsDescendantsToo) {
    ASSERT_TRUE(succeeds(restore_cd(root)));
    const cd_handle again = make_child(root);
    ASSERT_TRUE(succeeds(delete_MPI_log_from_cd(root)));
    EXPECT_EQ(info_of(again).replaying, 0);
    EXPECT_TRUE(succeeds(delete_MPI_log_from_cd(again)));
}

TEST_F(MpiLogChain, CommitInTheMiddleOfAReplayGoesOnInTheParent) {
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(next(root), "r1");
    const cd_handle again = make_child(root);
    EXPECT_EQ(next(again), "c1");
    ASSERT_TRUE(succeeds(commit_cd(again)));
    EXPECT_EQ(rest(root), "c2 ");
}

} // namespace
