// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// A program dies before a call of one of its ranks' threads that changes a file, whichever call
// that is; the next one finds one point in time that all ranks have or can have rebuilt.
#include "each_fault.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <set>

namespace cd::checkpoint {
namespace {

const std::vector<std::string> nodes_of_ranks{"n0", "n1", "n2", "n3"};

std::vector<ThreadOfRank> threads(const std::vector<int> &ranks, int depth) {
    std::vector<ThreadOfRank> threads;
    for (const int rank : ranks) {
        threads.push_back({rank, depth});
    }
    return threads;
}

constexpr int own = 0;
constexpr int helper = 1;         // of redundancy_mode=async
constexpr int copier = 1;         // of flush=, without a helper
constexpr int helpers_copier = 2; // with one

// Which of a thread's calls it dies before: all of them, or every so-manieth unless the environment
// says CD_TEST_LONG, other ones for each rank.
struct Calls {
    explicit Calls(int distance = 1) : step(std::getenv("CD_TEST_LONG") ? 1 : distance) {}

    const int step;
};

// Does run with a thread that dies, until it lives on; check() looks at what is left each time.
template <typename Prepare, typename Run, typename Check>
void die_everywhere(const std::vector<ThreadOfRank> &victims, Calls calls, const Prepare &prepare,
                    const Run &run, const Check &check) {
    for (const ThreadOfRank &victim : victims) {
        int deaths = 0;
        bool died = true;
        for (int nth = 1 + victim.rank % calls.step; died; nth += calls.step) {
            SCOPED_TRACE("rank " + std::to_string(victim.rank) + ", thread " +
                         std::to_string(victim.depth) + ", before call " + std::to_string(nth));
            const TimeLimit limit(60);
            Cluster cluster(nodes_of_ranks);
            {
                const DyingSystem system;
                prepare(cluster);
            }
            {
                const DyingSystem system(victim, nth);
                died = run(cluster).died;
            }
            const DyingSystem system;
            check(cluster, died);
            if (testing::Test::HasFailure()) {
                return;
            }
            deaths += died ? 1 : 0;
        }
        EXPECT_GT(deaths, 0) << "rank " << victim.rank << " has no thread " << victim.depth;
    }
}

void lose_all(const Cluster &cluster) {
    for (const std::string &node : nodes_of_ranks) {
        cluster.lose(node);
    }
}

void protect_one(Cluster &cluster) { cluster.run({1}); }

long attempts_in(const std::filesystem::path &points) {
    return std::ranges::count_if(std::filesystem::directory_iterator(points), [](const auto &each) {
        return id_of_directory(each.path().filename().string()).has_value();
    });
}

// What is found when epoch 2 was protected after epoch 1: either, and both now and then.
class OldOrNew {
public:
    void found(std::optional<uint64_t> start, bool died) {
        EXPECT_TRUE(start == 2U || (died && start == 1U));
        ++(start == 2U ? new_ones_ : old_ones_);
    }
    void expect(int old_ones, int new_ones) const {
        EXPECT_GE(old_ones_, old_ones);
        EXPECT_GE(new_ones_, new_ones);
    }

private:
    int old_ones_ = 0;
    int new_ones_ = 0;
};

TEST(DyingProgram, WhileProtectingLeavesTheOldOrTheNewPointInTime) {
    OldOrNew outcome;
    die_everywhere(
        threads({0, 1, 2, 3}, own), Calls(), protect_one,
        [](Cluster &cluster) { return cluster.run({2}); },
        [&](Cluster &cluster, bool died) {
            const auto start = cluster.run({}).start();
            outcome.found(start, died);
            if (start == 1U) { // of epoch 2 nothing takes room any more
                for (const std::string &node : nodes_of_ranks) {
                    EXPECT_EQ(attempts_in(cluster.directory(node) / "solver.points"), 1);
                }
            }
        });
    outcome.expect(50, 10);
}

TEST(DyingProgram, WhileAHelperThreadProtectsLeavesTheOldOrTheNewPointInTime) {
    OldOrNew outcome;
    die_everywhere(
        threads({0, 1, 2, 3}, helper), Calls(7),
        [](Cluster &cluster) {
            cluster.mode = Mode::async;
            cluster.run({1});
        },
        [](Cluster &cluster) { return cluster.run({2}); },
        [&](Cluster &cluster, bool died) { outcome.found(cluster.run({}).start(), died); });
    outcome.expect(20, 5);
}

// The old one is taken away while the new one's helper thread may be under way.
TEST(DyingProgram, WhilePointsInTimeFollowEachOtherLeavesOneOfTheLastTwo) {
    die_everywhere(
        threads({1}, helper), Calls(9),
        [](Cluster &cluster) {
            cluster.mode = Mode::async;
            cluster.run({1});
        },
        [](Cluster &cluster) {
            return cluster.run({2, 3});
        },
        [](Cluster &cluster, bool died) {
            cluster.lose("n1");
            const auto start = cluster.run({}).start();
            EXPECT_TRUE(start == 3U || (died && (start == 1U || start == 2U)));
        });
}

TEST(DyingProgram, WithItsNodeLeavesTheOldOrTheNewPointInTime) {
    const auto run = [](Cluster &cluster) { return cluster.run({2}); };
    for (const int lost : {0, 2}) {
        die_everywhere(threads({2}, own), Calls(2), protect_one, run,
                       [&](Cluster &cluster, bool died) {
                           cluster.lose(nodes_of_ranks[static_cast<size_t>(lost)]);
                           const auto start = cluster.run({3}).start();
                           EXPECT_TRUE(start == 2U || (died && start == 1U));
                           EXPECT_EQ(cluster.run({}).start(), 3U);
                       });
    }
}

// As many nodes as are covered are lost as well, the dead rank's and others beside it. One of the
// ranks dies before every second of its calls, where there is no helper.
TEST(DyingProgram, WithAsManyNodesAsAreCoveredLeavesTheOldOrTheNewPointInTime) {
    for (const Redundancy redundancy :
         {Redundancy{Scheme::reed_solomon, 2}, Redundancy{Scheme::partner, 2}}) {
        for (const Mode mode : {Mode::sync, Mode::async}) {
            OldOrNew outcome;
            const int depth = mode == Mode::sync ? own : helper;
            int rank = 0;
            for (const ThreadOfRank &victim : threads({0, 1, 2, 3}, depth)) {
                die_everywhere(
                    {victim}, Calls(rank == 1 && mode == Mode::sync ? 2 : 17),
                    [&](Cluster &cluster) {
                        cluster.redundancy = redundancy;
                        cluster.mode = mode;
                        cluster.run({1});
                    },
                    [](Cluster &cluster) { return cluster.run({2}); },
                    [&](Cluster &cluster, bool died) {
                        cluster.lose(nodes_of_ranks[static_cast<size_t>(rank)]);
                        cluster.lose(nodes_of_ranks[static_cast<size_t>((rank + 1) % 4)]);
                        outcome.found(cluster.run({}).start(), died);
                    });
                ++rank;
            }
            outcome.expect(4, 3);
        }
    }
}

// Epoch 4 is of a level that covers more than that of epoch 3 does.
TEST(DyingProgram, WithLevelsLeavesTheOldOrTheNewPointInTime) {
    for (const Mode mode : {Mode::sync, Mode::async}) {
        for (const bool two : {false, true}) {
            die_everywhere(
                threads({0, 1, 2, 3}, mode == Mode::sync ? own : helper), Calls(17),
                [&](Cluster &cluster) {
                    cluster.config = cluster.write_config(
                        "CKPT=0 TYPE=XOR\nCKPT=1 INTERVAL=2 TYPE=RS CKSUM=2\n");
                    cluster.mode = mode;
                    cluster.run({1, 2, 3});
                },
                [](Cluster &cluster) { return cluster.run({4}); },
                [&](Cluster &cluster, bool died) {
                    cluster.lose("n1");
                    if (two) {
                        cluster.lose("n2");
                    }
                    const auto start = cluster.run({}).start();
                    EXPECT_TRUE(start == 4U || (died && start == (two ? 2U : 3U)));
                });
        }
    }
}

TEST(DyingProgram, WhileProtectingForTheFirstTimeLeavesItOrNothing) {
    die_everywhere(
        threads({0, 3}, own), Calls(), [](Cluster &cluster) { cluster.set_size = 2; },
        [](Cluster &cluster) { return cluster.run({1}); },
        [](Cluster &cluster, bool died) {
            const auto start = cluster.run({}).start();
            EXPECT_TRUE(start == 1U || (died && start == std::nullopt));
        });
}

TEST(DyingProgram, WhileRebuildingCanBeStartedAgain) {
    struct Case {
        Redundancy redundancy;
        std::vector<int> ranks;
        int distance;
    };
    for (const auto &[redundancy, ranks, distance] :
         {Case{{Scheme::xor_set, 0}, {1, 2}, 2}, Case{{Scheme::reed_solomon, 2}, {0, 1, 2, 3}, 13},
          Case{{Scheme::partner, 1}, {0, 1, 2, 3}, 13}}) {
        die_everywhere(
            threads(ranks, own), Calls(distance),
            [&, scheme = redundancy](Cluster &cluster) {
                cluster.redundancy = scheme;
                cluster.run({1});
                cluster.lose("n1");
                cluster.nodes = {"n2", "spare", "n0", "n3"};
            },
            [](Cluster &cluster) { return cluster.run({}); },
            [](Cluster &cluster, bool) { EXPECT_EQ(cluster.run({}).start(), 1U); });
    }
}

// Copies of epochs 2 and 4, of which epoch 4 is also on the nodes, or epoch 3.
void copy_while(const std::vector<ThreadOfRank> &victims, Calls calls, Mode mode) {
    int old_ones = 0;
    die_everywhere(
        victims, calls,
        [&](Cluster &cluster) {
            cluster.mode = mode;
            cluster.flush = cluster.directory("parallel").string();
            cluster.run({1, 2});
        },
        [](Cluster &cluster) {
            return cluster.run({3, 4});
        },
        [&](Cluster &cluster, bool died) {
            const auto near = cluster.run({}).start();
            EXPECT_TRUE(near == 4U || (died && (near == 3U || near == 2U)));
            lose_all(cluster);
            const auto start = cluster.run({}).start();
            EXPECT_TRUE(start == 4U || (died && start == 2U));
            old_ones += start == 2U ? 1 : 0;
        });
    EXPECT_GT(old_ones, 0);
}

TEST(DyingProgram, WhileCopyingLeavesTheOldOrTheNewCopy) {
    copy_while(threads({1}, own), Calls(4), Mode::sync);
}

TEST(DyingProgram, InAThreadThatCopiesLeavesTheOldOrTheNewCopy) {
    copy_while(threads({0, 1, 2, 3}, copier), Calls(9), Mode::sync);
    copy_while(threads({0, 1, 2, 3}, helpers_copier), Calls(17), Mode::async);
    copy_while(threads({2}, helper), Calls(17), Mode::async);
}

TEST(DyingProgram, WhileForgettingHasForgottenAllOrNothing) {
    die_everywhere(
        threads({0, 3}, own), Calls(), protect_one,
        [](Cluster &cluster) { return cluster.run({}, true); },
        [](Cluster &cluster, bool died) {
            const auto start = cluster.run({}).start();
            EXPECT_TRUE(start == std::nullopt || (died && start == 1U));
        });
}

} // namespace
} // namespace cd::checkpoint
