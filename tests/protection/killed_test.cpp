// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// A process is killed at random instants, and loses its node's directory every other time. The next
// one goes on from the newest image, with exactly the bytes of that point in time.

#include "fake_protector.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <random>
#include <thread>

namespace {

class Killed : public Protected {
protected:
    // What the program has in memory at an epoch.
    static char value_of(uint64_t epoch) { return static_cast<char>(epoch * 7 + 1); }

    // Goes on until it is killed. Tells of the epoch that it starts with, and then of each that is
    // protected. Only returns if something is wrong.
    int live(int pipe, bool later) {
        root = create();
        if (root == nullptr) {
            return 1;
        }
        const uint64_t start = info().epoch;
        add();
        if (start > 0) {
            fill('-');
            if (restore_cd(root) != CD_SUCCESS) {
                return 2;
            }
            const auto right = [&](char byte) { return byte == value_of(start); };
            if (!std::ranges::all_of(memory, right)) {
                return 3;
            }
        }
        tell(pipe, start);
        protector.later = later;
        std::thread taking;
        for (uint64_t epoch = start + 1;; ++epoch) {
            advance_with(value_of(epoch));
            if (testing::Test::HasFailure()) {
                return 4;
            }
            if (!later) {
                tell(pipe, epoch);
            } else {
                if (taking.joinable()) {
                    taking.join();
                }
                taking = std::thread([this, pipe, epoch, point = protector.kept.back()] {
                    cd_protection_message message = {};
                    if (protector.take_image(point, &message) == CD_ERROR_NONE) {
                        tell(pipe, epoch);
                    }
                    point.release(point.context);
                });
                protector.kept.clear();
            }
        }
    }

    static void tell(int pipe, uint64_t epoch) {
        [[maybe_unused]] const ssize_t written = ::write(pipe, &epoch, sizeof epoch);
    }
};

TEST_F(Killed, GoesOnFromItsNewestImage) {
    std::mt19937 dice(20261121);
    uint64_t newest = 0;
    int lives_that_restarted = 0;
    for (int life = 0; life < 24; ++life) {
        SCOPED_TRACE(life);
        int ends[2];
        ASSERT_EQ(::pipe(ends), 0);
        const pid_t child = ::fork();
        if (child == 0) {
            ::close(ends[0]);
            ::_exit(live(ends[1], life % 3 == 0));
        }
        ::close(ends[1]);
        uint64_t start = 0;
        uint64_t told = 0;
        const bool began = ::read(ends[0], &start, sizeof start) == sizeof start;
        if (began) {
            for (unsigned epochs = dice() % 4; epochs > 0; --epochs) {
                ASSERT_EQ(::read(ends[0], &told, sizeof told), ssize_t{sizeof told});
            }
            std::this_thread::sleep_for(std::chrono::microseconds(dice() % 5000));
            ::kill(child, SIGKILL);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        ASSERT_TRUE(began && WIFSIGNALED(status)) << WEXITSTATUS(status);
        // An image may have been complete, and its process killed before it told.
        ASSERT_GE(start, newest);
        ASSERT_LE(start, newest + 1);
        lives_that_restarted += start > 0 ? 1 : 0;
        newest = std::max(start, told);
        while (::read(ends[0], &told, sizeof told) == sizeof told) {
            newest = told;
        }
        ::close(ends[0]);
        if (life % 2 == 0) {
            std::filesystem::remove_all(local);
        }
    }
    EXPECT_GT(lives_that_restarted, 15);
    EXPECT_GT(newest, 20U);
}

} // namespace
