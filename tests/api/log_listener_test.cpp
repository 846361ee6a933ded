// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "logger_path.h"
#include "worker_thread.h"

#include <barrier>
#include <new>
#include <string>
#include <thread>
#include <vector>

// The events that the interposition layer gets, and logs that are deleted during their replay.
namespace {

// The events of the thread that runs the test; the listener gets those of all threads.
struct Heard {
    int boundaries = 0;
    std::vector<std::string> events;
    const char *refusal = nullptr;
    std::vector<cd_handle> deleting;
    bool has_memory = true;
};
thread_local Heard heard;

const cd_log_listener listener = {
    [] { ++heard.boundaries; },
    [](cd_handle) -> const char * {
        heard.events.emplace_back("restoring");
        return heard.refusal;
    },
    [](cd_handle, int success) { heard.events.emplace_back(success ? "restored" : "failed"); },
    [](uint64_t, cd_handle root) { heard.events.emplace_back(root ? "forgotten" : "ended"); },
    [](cd_handle cd) {
        if (!heard.has_memory) {
            throw std::bad_alloc();
        }
        heard.deleting.push_back(cd);
    }};

class LogListener : public LoggerPath {
protected:
    LogListener() {
        cd_log_listen(&listener); // stays for good
        heard = {};
    }
    ~LogListener() override { heard = {}; } // later tests of this process are heard of, too
};

TEST_F(LogListener, HearsOfWhatHappensToTheLog) {
    const cd_handle root = make_root(COMM_LOGGING_ENABLED);
    EXPECT_EQ(heard.boundaries, 1);
    ASSERT_TRUE(succeeds(restore_cd(root)));
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(commit_cd(child)));
    ASSERT_TRUE(succeeds(delete_MPI_log_from_cd(root)));
    ASSERT_TRUE(succeeds(commit_cd(root)));
    EXPECT_EQ(heard.events, (std::vector<std::string>{"restoring", "restored", "forgotten",
                                                      "forgotten", "ended"}));
}

TEST_F(LogListener, CanRefuseARestore) {
    heard.refusal = "a send is pending";
    const cd_handle root = make_root(COMM_LOGGING_ENABLED);
    EXPECT_TRUE(
        fails_with(CD_ERROR_LOG_PENDING, restore_cd(root), {"a send is pending", "0/root/0/0"}));
    EXPECT_EQ(heard.events, std::vector<std::string>{"restoring"});
    heard.refusal = nullptr;
}

TEST_F(LogListener, IsSparedARestoreThatAnotherThreadForbids) {
    const cd_handle root = make_root(COMM_LOGGING_ENABLED);
    std::barrier meet(2);
    std::thread worker([&] {
        const cd_handle child = make_child(root);
        meet.arrive_and_wait();
        meet.arrive_and_wait();
        EXPECT_TRUE(succeeds(commit_cd(child)));
    });
    meet.arrive_and_wait();
    EXPECT_TRUE(fails_with(CD_ERROR_ACTIVE_ELSEWHERE, restore_cd(root)));
    EXPECT_EQ(heard.events, std::vector<std::string>{});
    meet.arrive_and_wait();
    worker.join();
    ASSERT_TRUE(succeeds(restore_cd(root)));
}

// ---- Logs that are deleted during a replay --------------------------------------------------

class DeletedLog : public LogListener {
protected:
    // Restored, and one of its three entries read.
    cd_handle make_one() {
        const cd_handle root = make_root(COMM_LOGGING_ENABLED);
        for (const char *text : {"one", "two", "three"}) {
            EXPECT_NE(write(text), nullptr);
        }
        EXPECT_TRUE(succeeds(restore_cd(root)));
        EXPECT_EQ(read(), "one");
        heard = {};
        return root;
    }
};

TEST_F(DeletedLog, ReportsThatItsReplayEndsWhicheverThreadDeletesIt) {
    const cd_handle root = make_one();
    std::thread([&] {
        heard = {};
        EXPECT_TRUE(succeeds(delete_MPI_log_from_cd(root)));
        EXPECT_EQ(heard.deleting, std::vector<cd_handle>{root});
    }).join();
    EXPECT_NE(write("four"), nullptr);
    EXPECT_TRUE(succeeds(delete_MPI_log_from_cd(CURRENT_CD)));
    EXPECT_EQ(heard.deleting, std::vector<cd_handle>{}) << "there is no replay";
}

// A child of another thread goes on.
TEST_F(DeletedLog, ReportsThatTheReplayOfADescendantEnds) {
    const cd_handle root = make_root(COMM_LOGGING_ENABLED);
    WorkerThread thread;
    cd_handle theirs = nullptr;
    thread([&] {
        theirs = make_child(root);
        EXPECT_NE(write("of the thread's"), nullptr);
        EXPECT_NE(write("and more"), nullptr);
        EXPECT_TRUE(succeeds(commit_cd(theirs)));
    });
    ASSERT_TRUE(succeeds(restore_cd(root)));
    thread([&] {
        theirs = make_child(root);
        EXPECT_EQ(read(), "of the thread's");
    });
    heard = {};
    EXPECT_TRUE(succeeds(delete_MPI_log_from_cd(root)));
    EXPECT_EQ(heard.deleting, std::vector<cd_handle>{root});
    thread([&] {
        EXPECT_EQ(cd_log_mode(), CD_LOG_RECORDING);
        EXPECT_TRUE(succeeds(commit_cd(theirs)));
    });
}

TEST_F(DeletedLog, StaysWhereTheListenerHasNoMemory) {
    const cd_handle root = make_one();
    heard.has_memory = false;
    EXPECT_TRUE(fails_with(CD_ERROR_NO_MEMORY, delete_MPI_log_from_cd(root)));
    EXPECT_EQ(cd_log_mode(), CD_LOG_REPLAYING);
    EXPECT_EQ(read(), "two");
    EXPECT_EQ(read(), "three");
    EXPECT_EQ(read(), "");
}

TEST_F(DeletedLog, ReportsNothingWhereItsReplayHasStopped) {
    const cd_handle root = make_one();
    cd_log_stop();
    EXPECT_TRUE(succeeds(delete_MPI_log_from_cd(root)));
    EXPECT_EQ(heard.deleting, std::vector<cd_handle>{});
}

TEST_F(DeletedLog, ContinuesItsReplayAfterTheChildIsCommitted) {
    const cd_handle root = make_one();
    const cd_handle child = make_child(root);
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_REPLAYING, delete_MPI_log_from_cd(child)));
    EXPECT_TRUE(fails_with(CD_ERROR_HAS_CHILDREN, commit_cd(root)));
    EXPECT_TRUE(succeeds(commit_cd(child)));
    EXPECT_EQ(heard.deleting, std::vector<cd_handle>{});
    EXPECT_EQ(read(), "two");
}

// ---- A re-execution that does something else ----------------------------------------------

TEST_F(DeletedLog, ForbidsToAdvanceWhereItsReplayHasStopped) {
    const cd_handle root = make_one();
    EXPECT_FALSE(cd_log_stopped());
    cd_log_stop();
    EXPECT_TRUE(cd_log_stopped());
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_DIVERGED, advance_cd_point_in_time(root),
                           {"0/root/0/0", "2 entries"}));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_FALSE(cd_log_stopped());
    EXPECT_EQ(read(), "one") << "the point in time is the old one";
    EXPECT_TRUE(succeeds(advance_cd_point_in_time(root)));
    cd_log_stop();
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_DIVERGED, advance_cd_point_in_time(root)));
    ASSERT_TRUE(succeeds(delete_MPI_log_from_cd(root)));
    EXPECT_FALSE(cd_log_stopped());
    EXPECT_TRUE(succeeds(advance_cd_point_in_time(root)));
}

TEST_F(DeletedLog, ForbidsToAdvanceWhereThatOfAChildHasStopped) {
    const cd_handle root = make_one();
    const cd_handle child = make_child(root);
    cd_log_stop();
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_DIVERGED, advance_cd_point_in_time(child)));
    ASSERT_TRUE(succeeds(commit_cd(child)));
    EXPECT_TRUE(fails_with(CD_ERROR_LOG_DIVERGED, advance_cd_point_in_time(root)));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_TRUE(succeeds(advance_cd_point_in_time(root)));
}

} // namespace
