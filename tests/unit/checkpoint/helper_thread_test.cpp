// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// redundancy_mode=async.

#include "protected.h"

#include <latch>

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

} // namespace
} // namespace cd::checkpoint
