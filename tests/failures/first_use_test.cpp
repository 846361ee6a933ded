// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// What a process, and each thread, needs from the system before its first CD, and does not get.
// Only a process that has not used the library can tell; under ctest each test has one.

#include "allocation_faults.h"

#include "cd/cd.h"
#include "os/system.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <thread>

namespace {

cd_handle create_named(const char *name) {
    return create_cd(nullptr, "store=memory", CD_COMM_LOGGING_DISABLED, name, nullptr);
}

// Refuses what it is told to. The first time that it does not, another thread seems to fork.
class FirstTimes : public cd::os::System {
public:
    enum class Call { none, at_fork, create_thread_key, set_for_thread };

    FirstTimes() { cd::os::replace_system(this); }
    ~FirstTimes() override { cd::os::replace_system(nullptr); }

    int at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) override {
        if (refused == Call::at_fork) {
            return ENOMEM;
        }
        const int result = System::at_fork(before, in_parent, in_child);
        fork_once(forked_at_fork_);
        return result;
    }
    int create_thread_key(pthread_key_t &key, void (*at_end_of_thread)(void *)) override {
        if (refused == Call::create_thread_key) {
            return EAGAIN;
        }
        const int result = System::create_thread_key(key, at_end_of_thread);
        fork_once(forked_with_key_);
        return result;
    }
    int set_for_thread(pthread_key_t key, const void *value) override {
        return refused == Call::set_for_thread ? ENOMEM : System::set_for_thread(key, value);
    }

    Call refused = Call::none;
    int forks_that_work = 0;

private:
    void fork_once(bool &forked) {
        if (forked) {
            return;
        }
        forked = true;
        const pid_t process = ::fork();
        if (process == 0) {
            ::alarm(60); // who waits here waits for ever
            refused = Call::none;
            bool works = false;
            std::thread([&works] {
                const cd_handle cd = create_named("in the new process");
                works = cd != nullptr && commit_cd(cd) == CD_SUCCESS;
            }).join();
            ::_exit(works ? 0 : 1);
        }
        int status = 0;
        ::waitpid(process, &status, 0);
        forks_that_work += status == 0 ? 1 : 0;
    }

    bool forked_at_fork_ = false;
    bool forked_with_key_ = false;
};

TEST(FirstUse, FailsForLackOfMemoryAndLeavesNothingLockedInAProcessThatIsForkedMeanwhile) {
    FirstTimes system;
    const auto fails = [&system](FirstTimes::Call refused, const std::string &part) {
        system.refused = refused;
        EXPECT_EQ(create_named("first"), nullptr);
        EXPECT_EQ(cd_last_error(), CD_ERROR_NO_MEMORY);
        EXPECT_NE(std::string(cd_last_error_message()).find(part), std::string::npos)
            << cd_last_error_message();
        system.refused = FirstTimes::Call::none;
    };
    fails(FirstTimes::Call::at_fork, "when the process forks");
    fails(FirstTimes::Call::create_thread_key, "no memory");
    fails(FirstTimes::Call::set_for_thread, "no memory");
    const cd_handle cd = create_named("first");
    ASSERT_NE(cd, nullptr) << cd_last_error_message();
    EXPECT_EQ(system.forks_that_work, 2) << "one at each first time";
    EXPECT_EQ(commit_cd(cd), CD_SUCCESS);
}

TEST(FirstUse, OfAThreadWithoutMemoryIsAnErrorOfThatCall) {
    const cd_handle root = create_named("other");
    ASSERT_NE(root, nullptr) << cd_last_error_message();
    size_t failures = 0;
    for (bool failed = true; failed;) {
        std::thread([&] {
            const auto create = [root] {
                return create_cd(root, nullptr, CD_COMM_LOGGING_INHERIT, nullptr, nullptr);
            };
            faults::fail_request(failures + 1);
            cd_handle child = create();
            const cd_error error = cd_last_error();
            failed = faults::happened();
            faults::fail_request(0);
            if (failed) {
                ++failures;
                EXPECT_EQ(child, nullptr);
                EXPECT_EQ(error, CD_ERROR_NO_MEMORY);
                child = create(); // there is memory again
            }
            ASSERT_NE(child, nullptr) << cd_last_error_message();
            EXPECT_EQ(commit_cd(CD_CURRENT_CD), CD_SUCCESS) << cd_last_error_message();
        }).join();
    }
    EXPECT_GT(failures, 1U);
    EXPECT_EQ(commit_cd(root), CD_SUCCESS);
}

TEST(FirstUse, AThreadWithoutMemoryForAMessageHasTheFixedTextOfTheCode) {
    FirstTimes system;
    const auto message = [] {
        EXPECT_EQ(commit_cd(nullptr), CD_FAILURE);
        EXPECT_EQ(cd_last_error(), CD_ERROR_INVALID_HANDLE);
        return std::string_view(cd_last_error_message());
    };
    const std::string_view fixed = cd_strerror(CD_ERROR_INVALID_HANDLE);
    std::thread([&] {
        system.refused = FirstTimes::Call::set_for_thread;
        EXPECT_EQ(message(), fixed);
        system.refused = FirstTimes::Call::none;
        faults::fail_request(1);
        EXPECT_EQ(message(), fixed);
        EXPECT_TRUE(faults::happened());
        faults::fail_request(0);
        const std::string complete(message()); // there is memory again
        EXPECT_GT(complete.size(), fixed.size());
        faults::fail_request(1);
        EXPECT_EQ(message(), complete);
        EXPECT_FALSE(faults::happened()) << "the room is there";
        faults::fail_request(0);
    }).join();
    const long blocks = faults::live_blocks();
    std::thread([&] { EXPECT_GT(message().size(), fixed.size()); }).join();
    EXPECT_EQ(faults::live_blocks(), blocks);
}

} // namespace
