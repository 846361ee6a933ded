// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/dir_lock.h"

#include "cluster.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>

namespace cd::checkpoint {
namespace {

// Another job, which uses a directory until it is killed.
class OtherJob {
public:
    explicit OtherJob(const std::filesystem::path &directory) {
        int ready[2] = {};
        EXPECT_EQ(::pipe(ready), 0);
        process = ::fork();
        if (process == 0) {
            std::unique_ptr<DirLock> lock;
            const bool taken = DirLock::take(directory.string(), {1, 0, "far"}, lock).is_ok();
            (void)!::write(ready[1], "x", taken ? 1 : 0);
            ::close(ready[1]);
            while (true) {
                ::pause();
            }
        }
        ::close(ready[1]);
        char byte = 0;
        EXPECT_EQ(::read(ready[0], &byte, 1), 1);
        ::close(ready[0]);
    }
    OtherJob(const OtherJob &) = delete;
    ~OtherJob() { end(); }

    void end() {
        if (process > 0) {
            ::kill(process, SIGKILL);
            ::waitpid(process, nullptr, 0);
            process = 0;
        }
    }

    pid_t process = 0;
};

TEST(DirLock, AnotherJobIsKeptAwayAndToldByWhomUntilThatOneEndsHoweverItDoes) {
    const DyingSystem system;
    Cluster cluster({"n0", "n1"});
    cluster.run({1});
    const auto points = cluster.directory("n1") / "solver.points";
    OtherJob other(points);
    for (int attempt = 0; attempt < 2; ++attempt) {
        const auto outcome = cluster.run({2}).outcome();
        EXPECT_EQ(outcome.code, CD_ERROR_STORE_LOCKED);
        EXPECT_EQ(outcome.text, "rank 1: " + points.string() + ": process " +
                                    std::to_string(other.process) +
                                    " on far uses these checkpoints; wait until it ends, or "
                                    "give the root another name or directory");
    }
    other.end();
    EXPECT_TRUE(std::filesystem::exists(points / "in-use-0000000000000001-0"));
    EXPECT_EQ(cluster.run({2}).start(), 1U);
    EXPECT_EQ(cluster.run({}, true).start(), 2U);
    EXPECT_FALSE(std::filesystem::exists(points));
}

// As in a directory that all nodes see.
TEST(DirLock, ProcessesOfOneJobUseADirectoryTogether) {
    const Cluster cluster({"n0"});
    const std::string directory = cluster.directory("n0").string();
    std::filesystem::create_directories(directory);
    OtherJob other(directory);
    std::unique_ptr<DirLock> lock;
    EXPECT_TRUE(DirLock::take(directory, {1, 3, "here"}, lock)) << message();
    std::unique_ptr<DirLock> of_another_job;
    EXPECT_EQ(DirLock::take(directory, {2, 3, "here"}, of_another_job).code(),
              CD_ERROR_STORE_LOCKED);
}

TEST(DirLock, WhoOnlyLooksLearnsOfAUserAndLeavesNothing) {
    const Cluster cluster({"n0"});
    const std::string directory = cluster.directory("n0").string();
    std::filesystem::create_directories(directory);
    EXPECT_TRUE(DirLock::check_unused(directory)) << message();
    EXPECT_TRUE(std::filesystem::is_empty(directory));
    OtherJob other(directory);
    EXPECT_EQ(DirLock::check_unused(directory).code(), CD_ERROR_STORE_LOCKED);
    EXPECT_NE(std::string(message()).find("process " + std::to_string(other.process) + " on far"),
              std::string::npos)
        << message();
    other.end();
    EXPECT_TRUE(DirLock::check_unused(directory)) << message();
}

// Ranks that start at once find the same files of the dead: none may take another one for a user.
TEST(DirLock, WhoLooksAtFilesOfTheDeadLocksNone) {
    class : public ReplacedSystem {
    public:
        int lock(int fd, pid_t &holder) override {
            ++locks;
            return os::System::lock(fd, holder);
        }
        int locks = 0;
    } system;
    const Cluster cluster({"n0"});
    const std::string directory = cluster.directory("n0").string();
    std::filesystem::create_directories(directory);
    OtherJob(directory).end();
    EXPECT_TRUE(DirLock::check_unused(directory)) << message();
    EXPECT_EQ(system.locks, 0);
    std::unique_ptr<DirLock> lock;
    EXPECT_TRUE(DirLock::take(directory, {2, 3, "here"}, lock)) << message();
    DirLock::remove_stale(directory, 2);
    EXPECT_EQ(system.locks, 1);
    EXPECT_FALSE(std::filesystem::exists(directory + "/in-use-0000000000000001-0"));
}

} // namespace
} // namespace cd::checkpoint
