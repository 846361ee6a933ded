// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "fixture.h"

#include "cd/mpi_log.h"

#include <atomic>
#include <chrono>
#include <csetjmp>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

// After fork() both processes have working CDs. The child processes report through their exit
// status, since gtest only counts failures of its own process.
namespace {

// Runs work in a forked process; what it returns, or -1 for a crash or a hang.
template <typename Work> int in_child(Work work) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(work());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class Fork : public CdTest {};

std::jmp_buf before_the_restore;

int jump_out(cd_addrspec *, int) { std::longjmp(before_the_restore, 1); }

// Runs in a process of its own, since its CD stays locked.
TEST_F(Fork, ARegenFunctionThatIsLeftByLongjmpIsNotReturnedFrom) {
    const cd_handle root = make_root();
    int x = 1;
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(root, {ro(x)}, 1, jump_out)));
    const int result = in_child([&] {
        if (setjmp(before_the_restore) == 0) {
            restore_cd(root);
            return 1;
        }
        if (commit_cd(root) != FAILURE || cd_last_error() != CD_ERROR_IN_CALLBACK)
            return 2;
        return last_message().find("longjmp") != std::string::npos ? 0 : 3;
    });
    EXPECT_EQ(result, 0);
}

TEST_F(Fork, BothProcessesGoOnWithTheirOwnCopyOfEveryCd) {
    int x = 1, y = 1;
    const cd_handle root = make_root();
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(x)}, 1)));
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(y)}, 1)));
    const int result = in_child([&] {
        x = y = 2;
        if (std::string(cd_name(CURRENT_CD)) != "0/root/1/0")
            return 1;
        if (advance_cd_point_in_time(child) != SUCCESS)
            return 2;
        y = 3;
        if (restore_cd(child) != SUCCESS || y != 2)
            return 3;
        if (commit_cd(child) != SUCCESS)
            return 4;
        if (restore_cd(root) != SUCCESS || x != 1 || y != 1)
            return 5;
        return commit_cd(root) == SUCCESS ? 0 : 6;
    });
    EXPECT_EQ(result, 0);
    x = y = 9;
    EXPECT_EQ(info_of(child).epoch, 0U) << "nothing that the child process did is seen here";
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(x, 1);
    EXPECT_EQ(y, 1);
}

// The new process cannot use MPI.
TEST_F(Fork, MpiLogStaysWithTheParentAndTheNewProcessDoesNotLog) {
    const cd_handle root = make_root(COMM_LOGGING_ENABLED, "log_limit=256K");
    const std::string text(1000, 'x');
    const cd_log_part part = {text.data(), text.size()};
    std::atomic<bool> done = false;
    std::thread other([&] { // appends all the time, beyond the limit
        while (!done) {
            EXPECT_TRUE(succeeds(cd_log_append(root, &part, 1)));
        }
    });
    for (int round = 0; round < 30; ++round) {
        const int result = in_child([&] {
            if (cd_log_mode() != CD_LOG_OFF || cd_log_open(10).at != nullptr)
                return 1;
            if (cd_log_append(root, &part, 1) == SUCCESS ||
                cd_last_error() != CD_ERROR_LOG_DISABLED)
                return 2;
            const cd_handle child = make_child(root);
            if (child == nullptr || commit_cd(child) != SUCCESS)
                return 3;
            return restore_cd(root) == SUCCESS && advance_cd_point_in_time(root) == SUCCESS &&
                           commit_cd(root) == SUCCESS
                       ? 0
                       : 4;
        });
        EXPECT_EQ(result, 0);
    }
    done = true;
    other.join();
    const uint64_t length = info_of(root).log_length;
    EXPECT_GT(length, 0U);
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(info_of(root).log_remaining, length);
    size_t read = 0;
    EXPECT_NE(cd_log_next(root, &read, nullptr), nullptr);
    EXPECT_EQ(read, text.size());
}

TEST_F(Fork, DescendantsThatWereActiveInOtherThreadsAreNobodysInTheNewProcess) {
    const cd_handle root = make_root();
    std::atomic<bool> created = false;
    std::atomic<bool> done = false;
    std::thread worker([&] {
        const cd_handle child = create_cd(root, nullptr, MPI_LOGGING_INHERIT, nullptr, nullptr);
        created = true;
        created.notify_one();
        done.wait(false);
        EXPECT_TRUE(succeeds(commit_cd(child)));
    });
    created.wait(false);
    EXPECT_EQ(in_child([&] { return restore_cd(root) == SUCCESS ? 0 : 1; }), 0);
    EXPECT_TRUE(fails_with(CD_ERROR_ACTIVE_ELSEWHERE, restore_cd(root)));
    done = true;
    done.notify_one();
    worker.join();
}

// The fork may come at any moment of the other threads' work: no lock may stay held in the new
// process, and every CD has to be complete there.
TEST_F(Fork, WhileOtherThreadsAddCreateAndCommitBothSidesGoOn) {
    constexpr int worker_count = 3;
    constexpr int fork_count = 30;
    const cd_handle root = make_root(COMM_LOGGING_ENABLED);
    std::atomic<bool> done = false;
    std::vector<std::vector<uint8_t>> data(worker_count, std::vector<uint8_t>(64, 1));
    std::vector<std::thread> workers;
    workers.reserve(worker_count);
    for (int i = 0; i < worker_count; ++i) {
        workers.emplace_back([&, i] {
            auto &mine = data[static_cast<size_t>(i)];
            while (!done) {
                const cd_handle child =
                    create_cd(root, nullptr, MPI_LOGGING_INHERIT, nullptr, nullptr);
                const cd_log_part part = {mine.data(), 16};
                EXPECT_TRUE(succeeds(cd_log_append(child, &part, 1)));
                EXPECT_TRUE(succeeds(add_to_cd_via_copy(child, {bytes(mine.data(), 64)}, 1)));
                EXPECT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(mine.data(), 8)}, 1)));
                EXPECT_TRUE(succeeds(commit_cd(child)));
            }
        });
    }
    for (int round = 0; round < fork_count; ++round) {
        const int result = in_child([&] {
            cd_info info;
            if (cd_query(root, &info) != SUCCESS)
                return 1;
            if (info.bytes % 8 != 0)
                return 2;
            const cd_handle child = create_cd(root, nullptr, MPI_LOGGING_INHERIT, nullptr, nullptr);
            if (child == nullptr)
                return 3;
            int x = 1;
            if (add_to_cd_via_copy(child, {constrained(x)}, 1) != SUCCESS)
                return 4;
            x = 2;
            if (restore_cd(child) != SUCCESS || x != 1)
                return 5;
            if (commit_cd(child) != SUCCESS)
                return 6;
            // Takes along whatever the other threads had just begun.
            if (restore_cd(root) != SUCCESS)
                return 7;
            return commit_cd(root) == SUCCESS ? 0 : 8;
        });
        EXPECT_EQ(result, 0) << "in fork " << round;
    }
    done = true;
    for (auto &worker : workers)
        worker.join();
    EXPECT_EQ(info_of(root).bytes, 64U * worker_count);
    EXPECT_TRUE(succeeds(restore_cd(root)));
}

// fork() needs a moment in which no CD is locked; such a moment does not come by itself.
TEST_F(Fork, HasItsTurnWhileEachOtherThreadAlwaysWorksOnItsOwnCd) {
    constexpr int worker_count = 3;
    constexpr int fork_count = 5;
    constexpr auto longest = std::chrono::seconds(10); // tens of seconds for one, without a turn
    std::atomic<bool> done = false;
    std::vector<std::vector<uint8_t>> data(worker_count, std::vector<uint8_t>(size_t{4} << 20, 1));
    std::vector<std::thread> workers;
    workers.reserve(worker_count);
    for (int i = 0; i < worker_count; ++i) {
        workers.emplace_back([&, i] {
            auto &mine = data[static_cast<size_t>(i)];
            const std::string name = "root of thread " + std::to_string(i);
            const cd_handle root =
                create_cd(nullptr, nullptr, COMM_LOGGING_DISABLED, name.c_str(), nullptr);
            while (!done) {
                EXPECT_TRUE(
                    succeeds(add_to_cd_via_copy(root, {bytes(mine.data(), mine.size())}, 1)));
                EXPECT_TRUE(succeeds(delete_from_cd(root, {bytes(mine.data(), mine.size())}, 1)));
            }
            EXPECT_TRUE(succeeds(commit_cd(root)));
        });
    }
    const auto start = std::chrono::steady_clock::now();
    for (int round = 0; round < fork_count; ++round) {
        EXPECT_EQ(in_child([] { return 0; }), 0);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, longest);
    done = true;
    for (auto &worker : workers) {
        worker.join();
    }
}

TEST_F(Fork, WhileAnotherThreadIsInTheObserverItCanBeTurnedOffInTheNewProcess) {
    struct Busy {
        std::atomic<bool> entered = false;
        std::atomic<bool> let_go = false;
    } busy;
    const auto dawdle = [](const cd_event *, void *context) {
        auto &mine = *static_cast<Busy *>(context);
        mine.entered = true;
        mine.entered.notify_all();
        mine.let_go.wait(false);
    };
    const cd_handle root = make_root();
    ASSERT_TRUE(succeeds(cd_observe(dawdle, &busy)));
    std::thread worker([&] { EXPECT_TRUE(succeeds(restore_cd(root))); });
    busy.entered.wait(false);
    EXPECT_EQ(in_child([&] {
                  alarm(5);
                  return cd_observe(nullptr, nullptr) == SUCCESS && commit_cd(root) == SUCCESS ? 0
                                                                                               : 1;
              }),
              0);
    busy.let_go = true;
    busy.let_go.notify_all();
    worker.join();
    ASSERT_TRUE(succeeds(cd_observe(nullptr, nullptr)));
}

// Runs a program, as system() does, while the restore holds its locks.
int regenerate_in_another_process(cd_addrspec list[], int count) {
    const pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    for (int i = 0; i < count; ++i) {
        std::memset(list[i].address, 7, list[i].length);
    }
    return status;
}

TEST_F(Fork, ARegenFunctionMayForkAndDoesNotWaitForItself) {
    char x = 1;
    const cd_handle root = make_root();
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(root, {ro(x)}, 1, regenerate_in_another_process)));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(x, 7);
    EXPECT_EQ(in_child([&] { return commit_cd(root) == SUCCESS ? 0 : 1; }), 0);
}

} // namespace
