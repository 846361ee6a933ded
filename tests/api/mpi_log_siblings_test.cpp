// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi_log_fixture.h"

// What the contract decides on siblings: they have a log each, known by their index.
namespace {

class MpiLogSiblings : public MpiLog {
protected:
    void SetUp() override {
        MpiLog::SetUp();
        append(root, "r1");
        first = make_child(root);
        second = make_child(root);
        append(first, "a1");
        append(second, "b1");
        append(first, "a2");
        append(second, "b2");
    }

    cd_handle first, second;
};

TEST_F(MpiLogSiblings, RestoreOfOneReplaysItsOwnLogOnly) {
    ASSERT_TRUE(succeeds(restore_cd(second)));
    EXPECT_EQ(info_of(second).log_remaining, 2U);
    EXPECT_EQ(info_of(first).replaying, 0);
    append(first, "a3");
    EXPECT_EQ(rest(second), "b1 b2 ");
    EXPECT_EQ(info_of(first).log_length, 3U);
    EXPECT_EQ(info_of(second).log_length, 2U);
}

TEST_F(MpiLogSiblings, RestoreOfTheParentReplaysEachToTheSiblingWithItsIndex) {
    ASSERT_TRUE(succeeds(commit_cd(first)));
    ASSERT_TRUE(succeeds(commit_cd(second)));
    append(root, "r2");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(next(root), "r1");
    const cd_handle first_again = make_child(root);
    const cd_handle second_again = make_child(root);
    EXPECT_EQ(next(first_again), "a1");
    EXPECT_EQ(rest(second_again), "b1 b2 ");
    EXPECT_EQ(next(first_again), "a2");
    ASSERT_TRUE(succeeds(commit_cd(second_again)));
    ASSERT_TRUE(succeeds(commit_cd(first_again)));
    EXPECT_EQ(rest(root), "r2 ");
}

TEST_F(MpiLogSiblings, RestoreOfTheParentWithLiveChildrenReplaysTheirLogsToo) {
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(next(root), "r1");
    const cd_handle first_again = make_child(root);
    const cd_handle second_again = make_child(root);
    EXPECT_EQ(rest(second_again), "b1 b2 ");
    EXPECT_EQ(rest(first_again), "a1 a2 ");
}

TEST_F(MpiLogSiblings, LaterSiblingWithTheSameIndexContinuesTheLog) {
    ASSERT_TRUE(succeeds(commit_cd(second)));
    const cd_handle third = make_child(root);
    EXPECT_EQ(info_of(third).sibling, 1);
    EXPECT_EQ(info_of(third).log_length, 0U) << "it owns only what comes after its creation";
    append(third, "b3");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    make_child(root);
    EXPECT_EQ(rest(make_child(root)), "b1 b2 b3 ");
}

TEST_F(MpiLogSiblings, ReexecutionWithASiblingThatTheLogDoesNotKnowIsAnError) {
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

// The parent is not re-executed then: the failure came before it had a third child.
TEST_F(MpiLogSiblings, SiblingThatIsNewWhileAnotherOneIsRestoredAloneIsNoError) {
    ASSERT_TRUE(succeeds(restore_cd(first)));
    const cd_handle third = make_child(root);
    EXPECT_EQ(info_of(third).replaying, 0);
    append(third, "c1");
    EXPECT_EQ(rest(first), "a1 a2 ");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(next(root), "r1");
    make_child(root);
    make_child(root);
    EXPECT_EQ(rest(make_child(root)), "c1 ");
}

TEST_F(MpiLogSiblings, NewSiblingIsAnErrorAlsoIfOneIsRestoredInTheParentsReplay) {
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(next(root), "r1");
    const cd_handle first_again = make_child(root);
    make_child(root);
    EXPECT_EQ(next(first_again), "a1");
    ASSERT_TRUE(succeeds(restore_cd(first_again)));
    int error = 0;
    EXPECT_EQ(create_cd(root, nullptr, MPI_LOGGING_INHERIT, nullptr, &error), nullptr);
    EXPECT_EQ(error, CD_ERROR_LOG_SIBLINGS);
}

TEST_F(MpiLogSiblings, AdvanceAfterAReexecutionThatLeftOutASiblingIsAnError) {
    ASSERT_TRUE(succeeds(restore_cd(root)));
    const cd_handle again = make_child(root);
    EXPECT_EQ(rest(again), "r1 a1 a2 ");
    ASSERT_TRUE(succeeds(commit_cd(again)));
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_SIBLINGS, advance_cd_point_in_time(root)));
    ASSERT_TRUE(succeeds(delete_MPI_log_from_cd(root))) << "the remedy that the message names";
    EXPECT_TRUE(succeeds(advance_cd_point_in_time(root)));
}

TEST_F(MpiLogSiblings, DeleteInOneIsRefusedWhileItReplaysForTheParent) {
    make_child(first);
    append(make_child(first), "n1"); // in a log of its own, below the first sibling's
    ASSERT_TRUE(succeeds(restore_cd(root)));
    const cd_handle first_again = make_child(root);
    const cd_handle second_again = make_child(root);
    EXPECT_EQ(next(second_again), "b1");
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_REPLAYING, delete_MPI_log_from_cd(second_again)));
    EXPECT_EQ(rest(second_again), "b2 ");
    EXPECT_TRUE(succeeds(delete_MPI_log_from_cd(second_again)));
    EXPECT_EQ(rest(first_again), "r1 a1 a2 ");
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_REPLAYING, delete_MPI_log_from_cd(first_again)))
        << "a child that is still to come has entries left";
    make_child(first_again);
    EXPECT_EQ(rest(make_child(first_again)), "n1 ");
    EXPECT_TRUE(succeeds(delete_MPI_log_from_cd(first_again)));
}

TEST_F(MpiLogSiblings, AdvanceOfOneForgetsItsLogForItselfOnly) {
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(second)));
    EXPECT_EQ(info_of(second).log_length, 0U);
    append(second, "b3");
    ASSERT_TRUE(succeeds(restore_cd(second)));
    EXPECT_EQ(rest(second), "b3 ");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    make_child(root);
    EXPECT_EQ(rest(make_child(root)), "b1 b2 b3 ");
}

TEST_F(MpiLogSiblings, AdvanceOfTheParentForgetsAllSiblingsLogs) {
    ASSERT_TRUE(succeeds(commit_cd(first)));
    ASSERT_TRUE(succeeds(commit_cd(second)));
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    make_child(root);
    append(make_child(root), "b3");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    make_child(root);
    EXPECT_EQ(rest(make_child(root)), "b3 ");
}

TEST_F(MpiLogSiblings, NestedSiblingsAreKeptApartByDepth) {
    make_child(second);
    const cd_handle nephew = make_child(second);
    append(nephew, "n1");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    make_child(root);
    const cd_handle second_again = make_child(root);
    make_child(second_again);
    EXPECT_EQ(rest(make_child(second_again)), "n1 ");
    EXPECT_EQ(rest(second_again), "b1 b2 ");
}

} // namespace
