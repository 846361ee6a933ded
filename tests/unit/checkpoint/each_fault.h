// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "../time_limit.h"
#include "cluster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

// One rank fails alone, at each place where it can: all ranks learn of it, nobody waits for ever,
// and nothing is lost. A Fault has
//     static void arm(int nth);   the nth request of the calling thread fails, 0: none
//     static bool happened();     whether it has, in the calling thread
namespace cd::checkpoint {

inline const std::vector<std::string> fault_nodes{"n0", "n1", "n2"};

// Early requests one by one; of many later ones some, or all if the environment says
// CD_TEST_LONG.
inline int next_fault(int nth) {
    static const bool every = std::getenv("CD_TEST_LONG") != nullptr;
    return nth + 1 + (every ? 0 : nth / 8);
}

// Does step in all ranks, with the nth request of one of them failing.
template <typename Fault, typename Step>
Status with_fault(Cluster::Rank &self, int failing, int nth, std::atomic<bool> &happened,
                  const Step &step) {
    Fault::arm(self.number() == failing ? nth : 0);
    Status status = step();
    if (self.number() == failing) {
        happened = Fault::happened();
    }
    Fault::arm(0);
    return status;
}

// As long as there is an nth request: it fails in one rank while epoch 2 is protected, and epoch 3
// is protected all the same.
template <typename Fault> void fail_everywhere_in_protect(int failing, int &failures) {
    const TimeLimit limit(200);
    Cluster cluster(fault_nodes);
    std::vector<std::vector<std::string>> told(fault_nodes.size()); // by rank
    std::atomic<bool> happened = true;
    std::atomic<bool> agree = true;
    const auto run = cluster.run_steps([&](Cluster::Rank &self) {
        uint64_t protected_epoch = 1;
        Status status = self.protect(protected_epoch);
        uint64_t epoch = 2;
        bool more = true;
        for (int nth = 1; status && more; nth = next_fault(nth)) {
            const cd_offered_point point = self.offer(epoch);
            status = with_fault<Fault>(self, failing, nth, happened,
                                       [&] { return self.checkpointer().protect(point); });
            told[static_cast<size_t>(self.number())].push_back(status ? "" : message());
            protected_epoch = status ? epoch : protected_epoch;
            agree = agree && self.checkpointer().protected_epoch() == protected_epoch;
            status = self.protect(protected_epoch = ++epoch);
            ++epoch;
            more = happened; // known to all since they have met
        }
        return status;
    });
    EXPECT_EQ(run.outcome().text, "");
    EXPECT_TRUE(agree);
    for (const auto &of_rank : told) {
        EXPECT_EQ(of_rank, told.front());
    }
    failures = static_cast<int>(
        std::ranges::count_if(told.front(), [](const std::string &text) { return !text.empty(); }));
    EXPECT_EQ(cluster.run({}).start(), 2 * told.front().size() + 1);
}

// The same for ranks that begin or end: each time in a new program.
template <typename Fault, typename Prepare, typename Run, typename Check>
int fail_everywhere(int failing, const Prepare &prepare, const Run &run, const Check &check) {
    int failures = 0;
    std::atomic<bool> happened = true;
    for (int nth = 1; happened && !testing::Test::HasFailure(); nth = next_fault(nth)) {
        SCOPED_TRACE("request " + std::to_string(nth) + " of rank " + std::to_string(failing));
        const TimeLimit limit(60);
        Cluster cluster(fault_nodes);
        prepare(cluster);
        happened = false;
        const auto outcome = run(cluster, nth, happened).outcome();
        failures += outcome.code != CD_ERROR_NONE ? 1 : 0;
        check(cluster, outcome.code == CD_ERROR_NONE);
    }
    return failures;
}

// with_stores: the directory of flush= is another one than before, so that both are looked at.
template <typename Fault> int fail_everywhere_in_open(int failing, bool with_stores) {
    return fail_everywhere<Fault>(
        failing,
        [&](Cluster &cluster) {
            const auto use = [&](const char *store) {
                cluster.flush = with_stores ? cluster.directory(store).string() : "";
            };
            use("parallel");
            cluster.run({1, 2});
            cluster.lose("n1");
            cluster.nodes = {"n1", "n0", "n2"}; // files move, too
            use("other");
        },
        [&](Cluster &cluster, int nth, std::atomic<bool> &happened) {
            Cluster::Opening opening;
            opening.before = [&](int rank) { Fault::arm(rank == failing ? nth : 0); };
            opening.after = [&](int rank) {
                if (rank == failing) {
                    happened = Fault::happened();
                }
                Fault::arm(0);
            };
            return cluster.run_steps(
                [](Cluster::Rank &self) { return self.checkpointer().agree_on(Status::ok()); },
                opening);
        },
        [](Cluster &cluster, bool) { EXPECT_EQ(cluster.run({}).start(), 2U); });
}

template <typename Fault> int fail_everywhere_in_commit(int failing) {
    return fail_everywhere<Fault>(
        failing, [](Cluster &cluster) { cluster.run({1}); },
        [&](Cluster &cluster, int nth, std::atomic<bool> &happened) {
            return cluster.run_steps([&](Cluster::Rank &self) {
                return with_fault<Fault>(self, failing, nth, happened, [&] {
                    return self.checkpointer().commit_root(Status::ok());
                });
            });
        },
        [](Cluster &cluster, bool committed) {
            EXPECT_EQ(cluster.run({}).start(),
                      committed ? std::nullopt : std::optional<uint64_t>(1));
        });
}

} // namespace cd::checkpoint
