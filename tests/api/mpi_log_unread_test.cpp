// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "cd/control.h"
#include "mpi_log_fixture.h"

#include <functional>
#include <string>
#include <thread>

// What becomes of log entries that a CD was restored for and did not replay before it ended.
namespace {

class MpiLogUnread : public MpiLog {
protected:
    void SetUp() override {
        MpiLog::SetUp();
        append(root, "r1");
    }

    static void in_a_thread(const std::function<void()> &work) { std::thread(work).join(); }

    // A child of parent that is restored, reads the first of its entries, and ends.
    void log_two_and_replay_one(cd_handle parent) {
        const cd_handle child = make_child(parent);
        append(child, "c1");
        append(child, "c2");
        ASSERT_TRUE(succeeds(restore_cd(child)));
        EXPECT_EQ(next(child), "c1");
        ASSERT_TRUE(succeeds(commit_cd(child)));
    }

    cd_error create_fails(cd_handle parent) {
        int error = 0;
        EXPECT_EQ(create_cd(parent, nullptr, MPI_LOGGING_INHERIT, nullptr, &error), nullptr);
        return static_cast<cd_error>(error);
    }
};

TEST_F(MpiLogUnread, OfAnOnlyChildGoOnInTheParent) {
    log_two_and_replay_one(root);
    EXPECT_EQ(info_of(root).log_remaining, 1U);
    const cd_handle next_child = make_child(root);
    EXPECT_EQ(rest(next_child), "c2 ");
    append(next_child, "d1");
    ASSERT_TRUE(succeeds(commit_cd(next_child)));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(rest(root), "r1 c1 c2 d1 ");
}

// It would get entries that another CD logged, in whatever thread.
TEST_F(MpiLogUnread, OfASiblingAreGivenToNoLaterOne) {
    in_a_thread([&] { log_two_and_replay_one(root); });
    in_a_thread([&] { EXPECT_EQ(create_fails(root), CD_ERROR_LOG_SIBLINGS); });
    for (const char *part : {"0/root/0/0", "sibling 0 at depth 1", "other threads", "1 entries"}) {
        in_a_thread([&] {
            create_fails(root);
            EXPECT_NE(last_message().find(part), std::string::npos) << last_message();
        });
    }
    append(root, "r2");
    ASSERT_TRUE(succeeds(restore_cd(root))) << "the first remedy";
    EXPECT_EQ(rest(root), "r1 r2 ");
    in_a_thread([&] {
        const cd_handle again = make_child(root);
        EXPECT_EQ(rest(again), "c1 c2 ");
        ASSERT_TRUE(succeeds(commit_cd(again)));
    });
    EXPECT_TRUE(succeeds(advance_cd_point_in_time(root)));
}

TEST_F(MpiLogUnread, OfASiblingAreGoneWithTheLogOfTheParent) {
    in_a_thread([&] { log_two_and_replay_one(root); });
    ASSERT_TRUE(succeeds(delete_MPI_log_from_cd(root))) << "the second remedy";
    in_a_thread([&] { EXPECT_EQ(rest(make_child(root)), ""); });
    EXPECT_TRUE(succeeds(restore_cd(root)));
}

// A restore of what they belong to would replay them to somebody else afterwards.
TEST_F(MpiLogUnread, ForbidTheAdvanceOfWhatTheyBelongTo) {
    const cd_handle child = make_child(root);
    in_a_thread([&] { log_two_and_replay_one(child); });
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_SIBLINGS, advance_cd_point_in_time(child)));
    EXPECT_NE(last_message().find("restore CD 0/root/1/0"), std::string::npos) << last_message();
    ASSERT_TRUE(succeeds(commit_cd(child)));
    append(root, "r2");
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_SIBLINGS, advance_cd_point_in_time(root)));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(next(root), "r1");
    EXPECT_TRUE(succeeds(advance_cd_point_in_time(root))) << "they may still come";
    const cd_handle child_again = make_child(root);
    in_a_thread([&] { EXPECT_EQ(rest(make_child(child_again)), "c1 c2 "); });
}

TEST_F(MpiLogUnread, AreNotWhatALaterParentIsRestoredFor) {
    const cd_handle child = make_child(root);
    in_a_thread([&] { log_two_and_replay_one(child); });
    ASSERT_TRUE(succeeds(commit_cd(child)));
    const cd_handle later = make_child(root);
    append(later, "d1");
    ASSERT_TRUE(succeeds(restore_cd(later)));
    EXPECT_EQ(rest(later), "d1 ");
    in_a_thread([&] { EXPECT_EQ(create_fails(later), CD_ERROR_LOG_SIBLINGS); });
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(next(root), "r1");
    const cd_handle again = make_child(root);
    in_a_thread([&] { EXPECT_EQ(rest(make_child(again)), "c1 c2 "); });
}

// Where the parent's thread makes all, each begins where one began before.
TEST_F(MpiLogUnread, InTheReplayOfAnAncestorAreNobodysInTheThreadOfTheParent) {
    const auto run_beside_another = [&](const std::function<void(cd_handle)> &work) {
        const cd_handle first = make_child(root);
        const cd_handle second = make_child(root);
        work(second);
        EXPECT_TRUE(succeeds(commit_cd(second)));
        EXPECT_TRUE(succeeds(commit_cd(first)));
    };
    const auto log_two = [](const char *one, const char *two) {
        return [=](cd_handle cd) {
            append(cd, one);
            append(cd, two);
        };
    };
    run_beside_another(log_two("a1", "a2"));
    run_beside_another(log_two("b1", "b2"));
    for (const bool restored_alone : {false, true}) {
        ASSERT_TRUE(succeeds(restore_cd(root)));
        EXPECT_EQ(next(root), "r1");
        run_beside_another([&](cd_handle cd) {
            EXPECT_EQ(next(cd), "a1");
            if (restored_alone) {
                ASSERT_TRUE(succeeds(restore_cd(cd)));
                EXPECT_EQ(next(cd), "a1");
            }
        });
        const cd_handle first = make_child(root);
        EXPECT_EQ(create_fails(root), CD_ERROR_LOG_SIBLINGS);
        EXPECT_NE(last_message().find("sibling 1 at depth 1"), std::string::npos) << last_message();
        ASSERT_TRUE(succeeds(commit_cd(first)));
    }
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(next(root), "r1");
    run_beside_another([&](cd_handle cd) {
        EXPECT_EQ(next(cd), "a1");
        EXPECT_EQ(next(cd), "a2");
    });
    run_beside_another([&](cd_handle cd) { EXPECT_EQ(rest(cd), "b1 b2 "); });
    EXPECT_TRUE(succeeds(advance_cd_point_in_time(root)));
}

// While an ancestor is re-executed nobody can tell whose those of other threads are: they follow
// each other.
TEST_F(MpiLogUnread, InTheReplayOfAnAncestorAreTheNextSiblings) {
    for (const char *text : {"a1", "b1"}) {
        in_a_thread([&] {
            const cd_handle child = make_child(root);
            append(child, text);
            ASSERT_TRUE(succeeds(commit_cd(child)));
        });
    }
    ASSERT_TRUE(succeeds(restore_cd(root)));
    in_a_thread([&] {
        const cd_handle first = make_child(root);
        EXPECT_EQ(next(first), "a1");
        ASSERT_TRUE(succeeds(restore_cd(first)));
        EXPECT_EQ(next(first), "a1");
        ASSERT_TRUE(succeeds(commit_cd(first)));
        EXPECT_EQ(rest(make_child(root)), "b1 ");
    });
}

// cd_run commits what it gives up, because the parent needs its data; the parent's turn comes then.
TEST_F(MpiLogUnread, AreReplayedAfterCdRunHasGivenUpAndTheParentIsRestored) {
    int times = 0;
    const auto body = [](cd_handle cd, void *context) {
        if (++*static_cast<int *>(context) == 1) {
            append(cd, "c1");
            append(cd, "c2");
        } else {
            EXPECT_EQ(next(cd), "c1");
        }
        return 1;
    };
    const cd_run_options twice = {2, nullptr, nullptr};
    in_a_thread([&] {
        EXPECT_TRUE(fails_with(CD_ERROR_RUN_FAILED, cd_run(root, &twice, body, &times)));
        EXPECT_TRUE(fails_with(CD_ERROR_LOG_SIBLINGS, cd_run(root, &twice, body, &times)))
            << "it is the root's turn";
    });
    EXPECT_EQ(times, 2);
    EXPECT_EQ(info_of(root).children, 0);
    ASSERT_TRUE(succeeds(restore_cd(root)));
    in_a_thread([&] { EXPECT_EQ(rest(make_child(root)), "c1 c2 "); });
}

} // namespace
