// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "runtime/fork.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace cd {
namespace {

int exit_status(pid_t process) {
    int status = -1;
    ::waitpid(process, &status, 0);
    return status;
}

// Runs in a process of its own, in which no call of support_fork() came before.
int fork_after_both_have_asked() {
    ::alarm(60);
    std::atomic<int> waiting = 2;
    const auto ask = [&] {
        --waiting;
        while (waiting > 0) {
        }
        (void)support_fork().is_ok();
    };
    std::thread other(ask);
    ask();
    other.join();
    const pid_t child = ::fork();
    if (child == 0) {
        ::_exit(support_fork().is_ok() ? 0 : 1);
    }
    return exit_status(child) == 0 ? 0 : 1;
}

TEST(SupportFork, CanBeAskedForByThreadsAtTheSameTime) {
    for (int i = 0; i < 100; ++i) {
        const pid_t asking = ::fork();
        if (asking == 0) {
            ::_exit(fork_after_both_have_asked());
        }
        ASSERT_EQ(exit_status(asking), 0);
    }
}

} // namespace
} // namespace cd
