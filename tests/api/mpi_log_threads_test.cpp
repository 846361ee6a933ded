// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi_log_fixture.h"

#include <string>
#include <thread>

// The logs of siblings that several threads make.
namespace {

class MpiLogThreads : public MpiLog {
protected:
    void SetUp() override {
        MpiLog::SetUp();
        append(root, "r1");
    }

    cd_handle make_child_in_a_thread() {
        cd_handle child = nullptr;
        std::thread([&] { child = make_child(root); }).join();
        return child;
    }

    // Makes a child in the root's own thread and one in another thread, in either order.
    void make_both(bool own_first) {
        own = own_first ? make_child(root) : nullptr;
        other = make_child_in_a_thread();
        own = own_first ? own : make_child(root);
        EXPECT_EQ(info_of(own).sibling, own_first ? 0 : 1);
    }

    cd_handle own = nullptr, other = nullptr;
};

TEST_F(MpiLogThreads, OnlyChildOfAnotherThreadHasALogOfItsOwn) {
    const cd_handle child = make_child_in_a_thread();
    append(child, "c1");
    append(root, "r2");
    EXPECT_EQ(info_of(child).log_length, 1U);
    EXPECT_EQ(info_of(root).log_length, 2U);
    ASSERT_TRUE(succeeds(restore_cd(child)));
    append(root, "r3");
    EXPECT_EQ(rest(child), "c1 ");
    ASSERT_TRUE(succeeds(commit_cd(child)));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(rest(root), "r1 r2 r3 ");
}

// In the first execution the failure came before the second thread did.
TEST_F(MpiLogThreads, SiblingOfAnotherThreadThatIsNewToTheReplayStartsAnEmptyLog) {
    append(make_child_in_a_thread(), "a1");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    const cd_handle known = make_child_in_a_thread();
    const cd_handle unknown = make_child_in_a_thread();
    EXPECT_EQ(info_of(unknown).replaying, 0);
    append(unknown, "b1");
    EXPECT_EQ(rest(known), "a1 ");
    ASSERT_TRUE(succeeds(commit_cd(known)));
    ASSERT_TRUE(succeeds(commit_cd(unknown)));
    EXPECT_EQ(rest(root), "r1 ");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(rest(make_child_in_a_thread()), "a1 ");
    EXPECT_EQ(rest(make_child_in_a_thread()), "b1 ");
}

// Either of the two may come first, as with the master of an OpenMP region.
TEST_F(MpiLogThreads, ChildOfTheParentsThreadAndOneOfAnotherFindTheirLogsInWhateverOrder) {
    for (const bool own_first : {true, false}) {
        SCOPED_TRACE(own_first);
        make_both(own_first);
        append(own, "a1");
        append(other, "b1");
        append(own, "a2");
        append(other, "b2");
        ASSERT_TRUE(succeeds(commit_cd(own)));
        ASSERT_TRUE(succeeds(commit_cd(other)));
        append(root, "r2");
        for (const bool own_first_again : {true, false}) {
            SCOPED_TRACE(own_first_again);
            ASSERT_TRUE(succeeds(restore_cd(root)));
            EXPECT_EQ(next(root), "r1");
            make_both(own_first_again);
            EXPECT_EQ(next(own), "a1");
            EXPECT_EQ(rest(other), "b1 b2 ");
            EXPECT_EQ(next(own), "a2");
            ASSERT_TRUE(succeeds(commit_cd(own)));
            ASSERT_TRUE(succeeds(commit_cd(other)));
            EXPECT_EQ(rest(root), "r2 ");
        }
        ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
        append(root, "r1");
    }
}

TEST_F(MpiLogThreads, ChildThatTheOtherKindOfThreadCreatesIsAnErrorLater) {
    const cd_handle before = make_child_in_a_thread();
    append(before, "c1");
    ASSERT_TRUE(succeeds(commit_cd(before)));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(rest(root), "r1 ");
    own = make_child(root);
    EXPECT_EQ(next(own), "");
    ASSERT_TRUE(succeeds(commit_cd(own)));
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_SIBLINGS, advance_cd_point_in_time(root)));

    ASSERT_TRUE(succeeds(delete_MPI_log_from_cd(root)));
    own = make_child(root);
    append(own, "c1");
    ASSERT_TRUE(succeeds(commit_cd(own)));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    other = make_child_in_a_thread();
    EXPECT_EQ(next(other), "");
    ASSERT_TRUE(succeeds(commit_cd(other)));
    EXPECT_EQ(rest(root), "c1 ") << "which is none of the parent's own";
}

TEST_F(MpiLogThreads, WhatOthersLoggedInAReplayOfAChildAloneIsReplayedAsTheRestIs) {
    own = make_child(root);
    append(own, "a1");
    ASSERT_TRUE(succeeds(restore_cd(own)));
    other = make_child_in_a_thread();
    append(other, "b1");
    ASSERT_TRUE(succeeds(commit_cd(other)));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    other = make_child_in_a_thread();
    EXPECT_EQ(rest(other), "b1 ");
    ASSERT_TRUE(succeeds(commit_cd(other)));
    EXPECT_TRUE(succeeds(advance_cd_point_in_time(root)));
    EXPECT_EQ(rest(root), "r1 a1 ");
}

TEST_F(MpiLogThreads, RestoreByAnotherThreadIsRefusedWhileTheLogOfAChildWouldBeReplayed) {
    std::thread([&] {
        own = make_child(root);
        append(own, "a1");
    }).join();
    ASSERT_TRUE(succeeds(restore_cd(own))) << "it has no children";
    EXPECT_EQ(rest(own), "a1 ");
    std::thread([&] { append(make_child(own), "c1"); }).join();
    std::thread([&] {
        EXPECT_TRUE(
            fails_with(CD_ERROR_LOG_SIBLINGS, restore_cd(own), {"CD 0/root/1/0: only the thread"}));
    }).join();
    ASSERT_TRUE(succeeds(restore_cd(own))) << "this thread has taken the place of the ended one";
    ASSERT_TRUE(succeeds(delete_MPI_log_from_cd(own)));
    std::thread([&] { EXPECT_TRUE(succeeds(restore_cd(own))) << "the remedy"; }).join();
}

TEST_F(MpiLogThreads, SecondChildOfTheParentsThreadFindsItsLogWhereverOthersCame) {
    make_both(true);
    append(make_child(root), "c1"); // the third one, and the second of this thread
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(next(root), "r1");
    make_child(root);
    const cd_handle second = make_child(root);
    EXPECT_EQ(info_of(second).sibling, 1);
    EXPECT_EQ(rest(second), "c1 ");
    int error = 0;
    EXPECT_EQ(next(root), "");
    append(root, "r2");
    ASSERT_TRUE(succeeds(restore_cd(root)));
    make_child_in_a_thread();
    make_child(root);
    make_child(root);
    EXPECT_EQ(create_cd(root, nullptr, MPI_LOGGING_INHERIT, nullptr, &error), nullptr);
    EXPECT_EQ(error, CD_ERROR_LOG_SIBLINGS) << "the parent's thread had made two";
}

} // namespace
