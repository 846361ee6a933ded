// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// redundancy_mode=async.

#include "protected.h"

#include <atomic>
#include <chrono>
#include <latch>
#include <thread>

namespace cd::checkpoint {
namespace {

TEST_F(Protected, AHelperThreadProtectsAsWell) {
    cluster.mode = Mode::async;
    EXPECT_EQ(cluster.run({1, 2, 3}).start(), std::nullopt);
    cluster.lose("n3");
    EXPECT_EQ(cluster.run({4}, true).start(), 3U);
    EXPECT_EQ(cluster.run({}).start(), std::nullopt);
}

// A point in time whose image can be written when the program says so.
struct Gated {
    explicit Gated(const cd_offered_point &offered) : inner(offered) {}

    cd_offered_point offer() {
        return {inner.epoch, this,
                [](void *self, const char *path, cd_protection_message *why) {
                    const auto *gated = static_cast<Gated *>(self);
                    gated->open.wait();
                    return gated->inner.write_image(gated->inner.context, path, why);
                },
                [](void *self) {
                    const auto *gated = static_cast<Gated *>(self);
                    gated->inner.release(gated->inner.context);
                }};
    }

    const cd_offered_point inner;
    std::latch open{1};
};

TEST_F(Protected, AHelperThreadWritesTheImageWhileTheProgramGoesOn) {
    const TimeLimit limit(60);
    cluster.mode = Mode::async;
    const auto run = cluster.run_steps([](Cluster::Rank &self) {
        Gated gated(self.offer(1));
        EXPECT_TRUE(self.checkpointer().protect(gated.offer()));
        EXPECT_EQ(self.checkpointer().protected_epoch(), 0U);
        gated.open.count_down();
        Status outcome = self.checkpointer().wait();
        EXPECT_EQ(self.checkpointer().protected_epoch(), 1U);
        return outcome;
    });
    EXPECT_EQ(run.outcome().text, "");
}

// Tells when its image is written.
struct Noted {
    cd_offered_point offer() {
        return {inner.epoch, this,
                [](void *self, const char *path, cd_protection_message *why) {
                    auto *noted = static_cast<Noted *>(self);
                    ++noted->written;
                    return noted->inner.write_image(noted->inner.context, path, why);
                },
                [](void *self) {
                    const auto *noted = static_cast<Noted *>(self);
                    noted->inner.release(noted->inner.context);
                }};
    }

    const cd_offered_point inner;
    std::atomic<int> &written; // by all ranks
};

// It would take processors from ranks whose local write is under way.
TEST_F(Protected, AHelperThreadDoesNothingBeforeAllRanksAreReadyToAdvance) {
    const TimeLimit limit(60);
    cluster.mode = Mode::async;
    std::atomic<int> written = 0;
    const auto run = cluster.run_steps([&](Cluster::Rank &self) {
        Noted noted{self.offer(1), written};
        if (self.number() == 3) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100)); // would be time enough
            EXPECT_EQ(written, 0);
        }
        EXPECT_TRUE(self.checkpointer().may_advance(1, Status::ok()));
        EXPECT_TRUE(self.checkpointer().protect(noted.offer()));
        return self.checkpointer().wait();
    });
    EXPECT_EQ(run.outcome().text, "");
    EXPECT_EQ(written, 4);
}

} // namespace
} // namespace cd::checkpoint
