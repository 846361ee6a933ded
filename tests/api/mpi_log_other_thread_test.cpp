// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi_log_fixture.h"

#include <functional>
#include <future>
#include <string>
#include <thread>

// The logs of CDs that are executed again by other threads than made them.
namespace {

// A root that a thread made which has ended, and what its step logs in a child.
class MpiLogEndedThread : public MpiLog {
protected:
    static void in_a_thread(const std::function<void()> &work) { std::thread(work).join(); }

    void step() {
        const cd_handle child = make_child(root);
        append(child, "c1");
        ASSERT_TRUE(succeeds(commit_cd(child)));
    }

    std::string step_again() {
        const cd_handle child = make_child(root);
        std::string replayed = rest(child);
        EXPECT_TRUE(succeeds(commit_cd(child)));
        return replayed;
    }
};

TEST_F(MpiLogEndedThread, ItsChildrenAreReplayedToWhoMakesThemAfterARestore) {
    in_a_thread([&] {
        root = make_root(COMM_LOGGING_ENABLED, nullptr, "worker");
        step();
    });
    for (int time = 0; time < 2; ++time) {
        SCOPED_TRACE(time);
        ASSERT_TRUE(succeeds(restore_cd(root)));
        in_a_thread([&] { EXPECT_EQ(step_again(), "c1 "); });
    }
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    in_a_thread([&] { step(); });
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(step_again(), "c1 ");
}

TEST_F(MpiLogEndedThread, ChildrenThatOtherThreadsMadeSinceAreFoundAsBefore) {
    in_a_thread([&] {
        root = make_root(COMM_LOGGING_ENABLED, nullptr, "worker");
        append(root, "r1");
    });
    step();
    for (int time = 0; time < 2; ++time) {
        SCOPED_TRACE(time);
        ASSERT_TRUE(succeeds(restore_cd(root)));
        EXPECT_EQ(step_again(), "c1 ");
        ASSERT_TRUE(succeeds(restore_cd(root)));
        in_a_thread([&] { EXPECT_EQ(step_again(), "c1 "); });
    }
}

// So a pool of threads finds its steps, whichever thread gets which.
TEST_F(MpiLogEndedThread, RestoreWithoutALogLeavesAllOthersAlike) {
    in_a_thread([&] { root = make_root(COMM_LOGGING_ENABLED, nullptr, "worker"); });
    ASSERT_TRUE(succeeds(restore_cd(root)));
    in_a_thread([&] { step(); });
    in_a_thread([&] { step(); });
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(step_again(), "c1 c1 ");
}

// A child of the root that a thread makes, which then ends, and children of that.
class MpiLogTakenOver : public MpiLog {
protected:
    static void in_a_thread(const std::function<void()> &work) { std::thread(work).join(); }

    static void here(const std::function<void()> &work) { work(); }

    void run_child(const std::string &text) {
        const cd_handle child = make_child(cd);
        append(child, text);
        ASSERT_TRUE(succeeds(commit_cd(child)));
    }

    std::string run_child_again() {
        const cd_handle child = make_child(cd);
        std::string replayed = rest(child);
        EXPECT_TRUE(succeeds(commit_cd(child)));
        return replayed;
    }

    cd_error create_fails() {
        int error = 0;
        EXPECT_EQ(create_cd(cd, nullptr, MPI_LOGGING_INHERIT, nullptr, &error), nullptr);
        return static_cast<cd_error>(error);
    }

    // Never two at a time: one of the thread that makes it, one of another, and so on.
    void run_three() {
        in_a_thread([&] {
            cd = make_child(root);
            run_child("h1");
            in_a_thread([&] { run_child("e1"); });
            run_child("h2");
        });
    }

    // One of the thread that makes it, and beside it one of another.
    void run_two_beside() {
        in_a_thread([&] {
            cd = make_child(root);
            const cd_handle own = make_child(cd);
            append(own, "h1");
            in_a_thread([&] { run_child("e1"); });
            ASSERT_TRUE(succeeds(commit_cd(own)));
        });
    }

    void end_all() {
        EXPECT_EQ(info_of(cd).replaying, 0);
        EXPECT_TRUE(succeeds(commit_cd(cd)));
        EXPECT_TRUE(succeeds(advance_cd_point_in_time(root)));
    }

    cd_handle cd = nullptr;
};

TEST_F(MpiLogTakenOver, EachChildIsReplayedAtItsPlaceWhicheverThreadMakesIt) {
    using Runner = void (*)(const std::function<void()> &);
    for (const Runner restorer : {here, in_a_thread}) {
        for (const Runner second : {here, in_a_thread}) {
            run_three();
            for (int time = 0; time < 2; ++time) {
                restorer([&] {
                    ASSERT_TRUE(succeeds(restore_cd(cd)));
                    EXPECT_EQ(run_child_again(), "h1 h2 ") << "the log of its parent's thread";
                });
                restorer([&] { ASSERT_TRUE(succeeds(restore_cd(cd))); });
                for (const char *text : {"h1", "e1", "h2"}) {
                    second([&] {
                        const cd_handle child = make_child(cd);
                        EXPECT_EQ(next(child), text);
                        EXPECT_TRUE(succeeds(commit_cd(child)));
                    });
                }
            }
            end_all();
        }
    }
}

TEST_F(MpiLogTakenOver, ByAThreadWhileTheOneThatMadeItIsIdle) {
    std::promise<void> made;
    std::promise<void> done;
    std::thread idle([&] {
        cd = make_child(root);
        run_child("h1");
        made.set_value();
        done.get_future().wait();
    });
    made.get_future().wait();
    ASSERT_TRUE(succeeds(restore_cd(cd)));
    EXPECT_EQ(run_child_again(), "h1 ");
    run_child("h2");
    ASSERT_TRUE(succeeds(restore_cd(cd)));
    EXPECT_EQ(run_child_again() + run_child_again(), "h1 h2 ");
    done.set_value();
    idle.join();
    end_all();
}

// Who restored it is its own thread then, also for what an ancestor's re-execution replays.
TEST_F(MpiLogTakenOver, GoesOnInTheThreadThatRestoredIt) {
    run_three();
    in_a_thread([&] {
        ASSERT_TRUE(succeeds(restore_cd(cd)));
        for (const char *text : {"h1", "e1", "h2"}) {
            const cd_handle child = make_child(cd);
            EXPECT_EQ(next(child), text);
            EXPECT_TRUE(succeeds(commit_cd(child)));
        }
        run_child("h3");
        ASSERT_TRUE(succeeds(commit_cd(cd)));
    });
    ASSERT_TRUE(succeeds(restore_cd(root)));
    in_a_thread([&] {
        cd = make_child(root);
        EXPECT_EQ(run_child_again(), "h1 h2 h3 ");
        in_a_thread([&] { EXPECT_EQ(run_child_again(), "e1 "); });
    });
    end_all();
}

// A supervisor restores it, and another thread goes on: whether in its place, or helping the
// supervisor, is not to be seen.
TEST_F(MpiLogTakenOver, WhereAThirdThreadGoesOnNobodyCanTellInAnAncestorsReexecution) {
    in_a_thread([&] { cd = make_child(root); });
    ASSERT_TRUE(succeeds(restore_cd(cd)));
    in_a_thread([&] { run_child("t1"); });
    ASSERT_TRUE(succeeds(restore_cd(root)));
    in_a_thread([&] {
        cd = make_child(root);
        EXPECT_EQ(create_fails(), CD_ERROR_LOG_SIBLINGS);
        EXPECT_NE(last_message().find("CD 0/root/1/0"), std::string::npos) << last_message();
        in_a_thread([&] { EXPECT_EQ(create_fails(), CD_ERROR_LOG_SIBLINGS); });
    });
    ASSERT_TRUE(succeeds(delete_MPI_log_from_cd(root))) << "the remedy";
    EXPECT_EQ(run_child_again(), "");
    end_all();
}

TEST_F(MpiLogTakenOver, WhoRestoredItIsInItsPlaceOnceItMakesAChild) {
    in_a_thread([&] { cd = make_child(root); });
    in_a_thread([&] {
        ASSERT_TRUE(succeeds(restore_cd(cd)));
        in_a_thread([&] { run_child("e1"); });
        run_child("h1");
        in_a_thread([&] { run_child("e2"); });
        ASSERT_TRUE(succeeds(commit_cd(cd)));
    });
    ASSERT_TRUE(succeeds(restore_cd(root)));
    in_a_thread([&] {
        cd = make_child(root);
        EXPECT_EQ(run_child_again(), "h1 ") << "in whatever order they come";
        in_a_thread([&] { EXPECT_EQ(run_child_again(), "e1 e2 "); });
    });
    end_all();
}

TEST_F(MpiLogTakenOver, WhoRestoredItIsInItsPlaceOnceItLogsOrReplays) {
    in_a_thread([&] { cd = make_child(root); });
    in_a_thread([&] {
        ASSERT_TRUE(succeeds(restore_cd(cd)));
        in_a_thread([&] { run_child("e1"); });
        append(cd, "own");
    });
    in_a_thread([&] {
        ASSERT_TRUE(succeeds(restore_cd(cd)));
        in_a_thread([&] { EXPECT_EQ(run_child_again(), "e1 "); });
        EXPECT_EQ(next(cd), "own");
        in_a_thread([&] { run_child("e2"); });
        ASSERT_TRUE(succeeds(commit_cd(cd)));
    });
    ASSERT_TRUE(succeeds(restore_cd(root)));
    in_a_thread([&] {
        cd = make_child(root);
        in_a_thread([&] { EXPECT_EQ(run_child_again(), "e1 e2 "); });
        EXPECT_EQ(rest(cd), "own ");
    });
    end_all();
}

TEST_F(MpiLogTakenOver, ThirdThreadsGoOnAfterEachRestoreByTheSame) {
    in_a_thread([&] { cd = make_child(root); });
    ASSERT_TRUE(succeeds(restore_cd(cd)));
    in_a_thread([&] { run_child("t1"); });
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(cd)));
    in_a_thread([&] { run_child("t2"); });
    ASSERT_TRUE(succeeds(restore_cd(cd)));
    EXPECT_EQ(create_fails(), CD_ERROR_LOG_SIBLINGS) << "it made none";
    in_a_thread([&] { EXPECT_EQ(run_child_again(), "t2 "); });
    end_all();
}

// Which numbers they had was chance.
TEST_F(MpiLogTakenOver, ThirdThreadsWhoseChildrenLivedBesideEachOtherCannotBeTold) {
    in_a_thread([&] { cd = make_child(root); });
    ASSERT_TRUE(succeeds(restore_cd(cd)));
    cd_handle helpers = nullptr;
    in_a_thread([&] {
        helpers = make_child(cd);
        append(helpers, "u1");
    });
    in_a_thread([&] { run_child("t1"); });
    ASSERT_TRUE(succeeds(commit_cd(helpers)));
    in_a_thread([&] {
        ASSERT_TRUE(succeeds(restore_cd(cd)));
        EXPECT_EQ(create_fails(), CD_ERROR_LOG_SIBLINGS);
    });
    ASSERT_TRUE(succeeds(delete_MPI_log_from_cd(cd)));
    end_all();
}

TEST_F(MpiLogTakenOver, ThirdThreadsWhoseChildrenLiveBesideEachOtherNowWaitForEachOther) {
    in_a_thread([&] { cd = make_child(root); });
    ASSERT_TRUE(succeeds(restore_cd(cd)));
    in_a_thread([&] { run_child("u1"); });
    in_a_thread([&] { run_child("t1"); });
    in_a_thread([&] {
        ASSERT_TRUE(succeeds(restore_cd(cd)));
        const cd_handle own = make_child(cd);
        EXPECT_EQ(next(own), "u1");
        in_a_thread([&] { EXPECT_EQ(create_fails(), CD_ERROR_LOG_SIBLINGS); });
        ASSERT_TRUE(succeeds(commit_cd(own)));
        in_a_thread([&] { EXPECT_EQ(run_child_again(), "t1 "); });
    });
    end_all();
}

TEST_F(MpiLogTakenOver, WhereChildrenLivedBesideEachOtherTheThreadHasToFitToo) {
    run_two_beside();
    in_a_thread([&] {
        ASSERT_TRUE(succeeds(restore_cd(cd)));
        in_a_thread([&] {
            EXPECT_EQ(create_fails(), CD_ERROR_LOG_SIBLINGS) << "it might be either";
            EXPECT_NE(last_message().find("CD 0/root/1/0"), std::string::npos) << last_message();
        });
        EXPECT_EQ(run_child_again(), "h1 ");
        EXPECT_EQ(create_fails(), CD_ERROR_LOG_SIBLINGS) << "which was another thread's";
        in_a_thread([&] { EXPECT_EQ(run_child_again(), "e1 "); });
    });
    end_all();
}

TEST_F(MpiLogTakenOver, WhereAReexecutionHasMadeOthersNobodyCanTell) {
    run_three();
    ASSERT_TRUE(succeeds(restore_cd(root)));
    in_a_thread([&] {
        cd = make_child(root);
        in_a_thread([&] { EXPECT_EQ(run_child_again(), "e1 "); });
    });
    in_a_thread([&] {
        ASSERT_TRUE(succeeds(restore_cd(cd)));
        EXPECT_EQ(create_fails(), CD_ERROR_LOG_SIBLINGS);
        EXPECT_NE(last_message().find("restore an ancestor"), std::string::npos) << last_message();
    });
    ASSERT_TRUE(succeeds(delete_MPI_log_from_cd(root))) << "the other remedy";
    in_a_thread([&] { EXPECT_EQ(run_child_again(), ""); });
}

} // namespace
