// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "application.h"
#include "checker.h"
#include "in_process.h"
#include "victim.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>

namespace killed {
namespace {

constexpr int lives_of_a_store = 20; // from the first process to the last

struct Life {
    bool killed = false;
    int status = 0;
    int steps = 0; // that were over
};

// Kills the victim after delay, wherever it is then.
Life live(Plan &plan, const std::string &storage, std::chrono::microseconds delay) {
    std::array<int, 2> progress = {};
    if (::pipe(progress.data()) != 0) {
        std::abort();
    }
    const pid_t victim = ::fork();
    if (victim == 0) {
        ::alarm(processes::deadline);
        ::_exit(be_victim(plan, storage, progress[1]));
    }
    ::close(progress[1]);
    std::this_thread::sleep_for(delay);
    ::kill(victim, SIGKILL);
    Life life;
    ::waitpid(victim, &life.status, 0);
    life.killed = WIFSIGNALED(life.status) && WTERMSIG(life.status) == SIGKILL;
    std::array<char, steps_of_a_life> told = {};
    for (ssize_t got = 0; (got = ::read(progress[0], told.data(), told.size())) > 0;) {
        life.steps += static_cast<int>(got);
    }
    ::close(progress[0]);
    return life;
}

struct Place {
    const char *name;
    std::filesystem::path directory;
    int kills;
};

class Killed : public testing::TestWithParam<Place> {
protected:
    void SetUp() override {
        std::string pattern = (GetParam().directory / "cd-killed-XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        directory_ = pattern;
        file_of(0); // for all that are forked
    }
    void TearDown() override { std::filesystem::remove_all(directory_); }

    std::string random_storage(std::mt19937_64 &random) const {
        const char *const keeps[] = {"1", "2", "4"};
        return "store=file,dir=" + store() + ",keep=" + keeps[random() % 3] +
               ",sync=" + (random() % 4 == 0 ? "full" : "none") +
               ",checksum=" + (random() % 4 == 0 ? "none" : "crc32c");
    }

    std::string store() const { return directory_ + "/stores"; }

    // A program that is killed again and again and goes on from its stores.
    void play(uint64_t seed) {
        std::filesystem::remove_all(store());
        std::filesystem::create_directory(store());
        std::filesystem::permissions(store(), std::filesystem::perms::owner_all);
        Plan plan(seed);
        std::mt19937_64 random(seed ^ 0x5EED);
        for (int number = 0; number < lives_of_a_store; ++number) {
            SCOPED_TRACE("seed " + std::to_string(seed) + ", life " + std::to_string(number));
            plan.begin_life();
            // Short and long lives alike; the shortest end while the stores are being opened.
            const auto delay = std::chrono::microseconds(100U << random() % 8U);
            const Life life =
                live(plan, random_storage(random), delay + delay * (random() % 100) / 100);
            ASSERT_TRUE(life.killed || life.status == 0) << "the victim failed";
            kills_ += life.killed ? 1 : 0;
            steps_ += life.steps;
            for (int step = 0; step < life.steps; ++step) {
                plan.next();
                plan.done();
            }
            const std::string before = difference(plan, store());
            if (!before.empty()) {
                const std::string step = model::describe(plan.next());
                ASSERT_TRUE(life.killed) << before;
                plan.done();
                const std::string after = difference(plan, store());
                ASSERT_EQ(after, "") << "the state is neither that before the step under way ("
                                     << before << ") nor that after it:\n"
                                     << step;
                ++found_after_;
            }
        }
    }

    std::string directory_;
    int kills_ = 0;
    int steps_ = 0;
    int found_after_ = 0;
};

TEST_P(Killed, ProcessThatIsKilledAtAnyInstantLeavesTheStateBeforeOrAfterTheStepUnderWay) {
    const int wanted = GetParam().kills * (std::getenv("CD_TEST_LONG") != nullptr ? 17 : 1);
    const char *text = std::getenv("CD_KILLED_SEED");
    uint64_t seed = text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
    while (kills_ < wanted) {
        ASSERT_NO_FATAL_FAILURE(play(seed++));
    }
    std::printf("%d kills, %d steps; %d times the step under way was found to be done\n", kills_,
                steps_, found_after_);
    EXPECT_GT(steps_, wanted) << "the victims did hardly anything";
    EXPECT_GT(found_after_, 0) << "no kill came between an operation's end and its being told";
}

// Stores in Linux's files in memory are written in place.
INSTANTIATE_TEST_SUITE_P(Stores, Killed,
                         testing::Values(Place{"WhereTemporaryFilesAre",
                                               std::filesystem::temp_directory_path(), 300},
                                         Place{"InMemory", "/dev/shm", 150}),
                         [](const auto &place) { return std::string(place.param.name); });

} // namespace
} // namespace killed
