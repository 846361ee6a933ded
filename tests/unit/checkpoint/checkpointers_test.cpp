// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/checkpointer.h"

#include "../time_limit.h"
#include "cluster.h"

#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <latch>
#include <thread>

namespace cd::checkpoint {
namespace {

// Two ranks with two roots, whose copies end when all ranks leave. One rank adds the
// one first and the other the other, as threads may.
TEST(Checkpointers, AreLeftInOneOrderByAllRanks) {
    const TimeLimit limit(60);
    const DyingSystem system;
    std::array<Checkpointers, 2> of_rank;
    std::array<std::latch, 2> first_is_there{std::latch(1), std::latch(1)};
    std::barrier all(4);
    const auto run = [&](const std::string &root, int where_it_is_first) {
        Cluster cluster({"n0", "n1"});
        cluster.root = root;
        cluster.flush = cluster.directory("parallel").string();
        const auto steps = [&](Cluster::Rank &self) {
            const auto rank = static_cast<size_t>(self.number());
            const bool first = self.number() == where_it_is_first;
            if (!first) {
                first_is_there[rank].wait();
            }
            of_rank[rank].add(self.checkpointer());
            if (first) {
                first_is_there[rank].count_down();
            }
            EXPECT_TRUE(self.protect(2)) << message();
            all.arrive_and_wait();
            if (first) {
                of_rank[rank].leave();
            }
            all.arrive_and_wait();
            of_rank[rank].remove(self.checkpointer());
            return Status::ok();
        };
        EXPECT_EQ(cluster.run_steps(steps).outcome().text, "");
    };
    std::thread other([&] { run("one", 1); });
    run("other", 0);
    other.join();
}

TEST(Checkpointers, ARankThatAdvancesOrCommitsWhileAnotherLeavesFailsThenAndLater) {
    const TimeLimit limit(60);
    const DyingSystem system;
    Cluster cluster({"n0", "n1"});
    const auto run = cluster.run_steps([](Cluster::Rank &self) {
        EXPECT_TRUE(self.protect(1)) << message();
        if (self.number() == 1) {
            self.checkpointer().leave();
            return Status::ok();
        }
        EXPECT_EQ(self.checkpointer().may_advance(2, Status::ok()).code(), CD_ERROR_ARGUMENT);
        EXPECT_STREQ(message(), "rank 1 has come to MPI_Finalize while this one advances it to "
                                "epoch 2; with redundancy all ranks do the same; nothing was "
                                "changed");
        EXPECT_EQ(self.checkpointer().commit_root(Status::ok()).code(), CD_ERROR_ARGUMENT);
        return Status::ok();
    });
    EXPECT_EQ(run.outcome().text, "");
    EXPECT_EQ(cluster.run({}).start(), 1U);
}

} // namespace
} // namespace cd::checkpoint
