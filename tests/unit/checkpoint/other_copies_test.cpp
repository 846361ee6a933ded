// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Ranks that were on other nodes once have two copies of their files. Where more of the near ones
// is damaged than a set can bring back, whole ones elsewhere take their place, or nothing changes.
#include "../redset/scratch_set.h"
#include "../time_limit.h"
#include "protected.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>

namespace cd::checkpoint {
namespace {

namespace fs = std::filesystem;

class CopiedElsewhere : public Protected {
protected:
    using State = std::map<fs::path, std::vector<std::byte>>;

    // The ranks were on each node once, and are on that after their first now.
    void store_and_move(size_t nodes) {
        ASSERT_EQ(cluster.run({7}).start(), std::nullopt);
        for (size_t moves = 1; moves < nodes; ++moves) {
            std::rotate(cluster.nodes.begin(), cluster.nodes.begin() + 1, cluster.nodes.end());
            ASSERT_EQ(cluster.run({}).start(), 7U);
        }
    }

    State state() const {
        State state;
        for (const fs::path &path : files_of_ranks()) {
            state[path] = redset::bytes_of(path);
        }
        return state;
    }

    fs::path file(const std::string &node, int rank, const std::string &mark) const {
        for (const auto &each : fs::directory_iterator(epoch_in(node, 7))) {
            const std::string name = each.path().filename();
            if (rank_of(name) == rank && name.find(mark) != std::string::npos) {
                return each.path();
            }
        }
        ADD_FAILURE() << node << " has no file of rank " << rank << " with " << mark;
        return {};
    }

    std::vector<std::byte> scheme_file_of_another_time(int rank) {
        const auto aside = [](const fs::path &directory) { return directory.string() + ".aside"; };
        for (const std::string &node : four_nodes) {
            fs::rename(cluster.directory(node), aside(cluster.directory(node)));
        }
        EXPECT_EQ(cluster.run({7}).start(), std::nullopt);
        std::vector<std::byte> other =
            redset::bytes_of(file(cluster.nodes[static_cast<size_t>(rank)], rank, ".grp_"));
        for (const std::string &node : four_nodes) {
            fs::remove_all(cluster.directory(node));
            fs::rename(aside(cluster.directory(node)), cluster.directory(node));
        }
        return other;
    }

    // With the size that it had.
    void damage(const std::string &node, int rank, const std::string &mark,
                bool at_its_end = true) {
        const fs::path path = file(node, rank, mark);
        std::vector<std::byte> bytes = redset::bytes_of(path);
        (at_its_end ? bytes.back() : bytes.front()) ^= std::byte{0x55};
        redset::write_file(path, bytes);
    }
    void damage_near(int rank, const std::string &mark, bool at_its_end = true) {
        damage(cluster.nodes[static_cast<size_t>(rank)], rank, mark, at_its_end);
    }

    void expect_that_nothing_changes() const {
        const State left = state();
        const auto outcome = cluster.run({}).outcome();
        EXPECT_EQ(outcome.code, CD_ERROR_REDUNDANCY_EXCEEDED);
        EXPECT_NE(outcome.text.find("files of ranks"), std::string::npos) << outcome.text;
        EXPECT_NE(outcome.text.find("nothing was changed"), std::string::npos) << outcome.text;
        EXPECT_TRUE(state() == left);
    }

    // Two of near ones are, of a set that can do without one, and are again each time.
    State damage_two() {
        damage_near(0, ".image");
        damage_near(1, ".grp_");
        return state();
    }
    void put_back(const State &state) const {
        for (const auto &[path, bytes] : state) {
            redset::write_file(path, bytes);
        }
    }

    const TimeLimit limit{300};
};

TEST_F(CopiedElsewhere, TakesThePlaceOfWhatIsDamaged) {
    store_and_move(2);
    const State right = state();
    for (const std::string mark : {".image", ".grp_"}) {
        for (const bool at_its_end : {true, false}) {
            SCOPED_TRACE(mark + (at_its_end ? " at its end" : " at its beginning"));
            damage_near(0, mark, at_its_end);
            damage_near(1, mark, at_its_end);
            EXPECT_EQ(cluster.run({}).start(), 7U);
            EXPECT_TRUE(state() == right);
        }
    }
    damage_near(0, ".image");
    damage_near(1, ".grp_");
    damage_near(2, ".image");
    damage_near(2, ".grp_", false);
    EXPECT_EQ(cluster.run({}).start(), 7U);
    EXPECT_TRUE(state() == right);
}

TEST_F(CopiedElsewhere, IsOnlyTakenWhereItIsWhole) {
    store_and_move(2);
    damage_near(0, ".image");
    damage_near(1, ".image");
    damage("n0", 0, ".image");
    damage("n1", 1, ".image");
    expect_that_nothing_changes();
}

TEST_F(CopiedElsewhere, IsNotTakenWhereThatDoesNotSuffice) {
    store_and_move(2);
    for (const int rank : {0, 1, 2}) {
        damage_near(rank, ".image");
    }
    damage("n0", 0, ".image");
    damage("n1", 1, ".image");
    expect_that_nothing_changes();
}

// One of two suffices, and what remains is rebuilt.
TEST_F(CopiedElsewhere, IsTakenWhereAnotherIsDamagedAsWell) {
    store_and_move(2);
    const State right = state();
    damage_near(0, ".image");
    damage_near(1, ".image");
    damage("n0", 0, ".image");
    EXPECT_EQ(cluster.run({}).start(), 7U);
    for (const int rank : {0, 1}) {
        const fs::path near = file(cluster.nodes[static_cast<size_t>(rank)], rank, ".image");
        EXPECT_EQ(redset::bytes_of(near), right.at(near));
    }
}

// The near one can be read and has the right size, so that nothing was brought in its place; who
// else tells of its rank's files is lost.
TEST_F(CopiedElsewhere, TakesThePlaceOfASchemeFileOfAnotherTime) {
    store_and_move(2);
    const State right = state();
    const fs::path near = file(cluster.nodes[3], 3, ".grp_");
    std::vector<std::byte> other;
    for (int i = 0; i < 100 && other.size() != right.at(near).size(); ++i) {
        other = scheme_file_of_another_time(3); // whose decimals need not be as many
    }
    ASSERT_EQ(other.size(), right.at(near).size());
    ASSERT_NE(other, right.at(near));
    redset::write_file(near, other);
    for (const std::string &node : {cluster.nodes[0], four_nodes[0]}) {
        fs::remove(file(node, 0, ".grp_"));
    }
    EXPECT_EQ(cluster.run({}).start(), 7U);
    EXPECT_EQ(redset::bytes_of(near), right.at(near));
}

TEST_F(CopiedElsewhere, TakesThePlaceOfAnImageAlsoWhereNoSchemeFileIsLeft) {
    store_and_move(2);
    const State right = state();
    for (const auto &[path, bytes] : right) {
        if (path.string().find(".grp_") != std::string::npos) {
            fs::remove(path);
        }
    }
    damage_near(0, ".image");
    EXPECT_EQ(cluster.run({}).start(), 7U);
    const fs::path near = file(cluster.nodes[0], 0, ".image");
    EXPECT_EQ(redset::bytes_of(near), right.at(near));
}

// Others who rebuild it may have written a longer header; of copies sizes alone tell nothing.
TEST_F(CopiedElsewhere, DoesNotTakeThePlaceOfASchemeFileThatHasAnotherSizeBeforeItIsRead) {
    store_and_move(2);
    for (const int rank : {0, 1, 2}) {
        damage_near(rank, ".image");
        damage(four_nodes[static_cast<size_t>(rank)], rank, ".image");
    }
    damage("n3", 3, ".grp_");
    const fs::path near = file(cluster.nodes[3], 3, ".grp_");
    std::vector<std::byte> longer = redset::bytes_of(near);
    longer.push_back(std::byte{});
    redset::write_file(near, longer);
    expect_that_nothing_changes();
}

TEST_F(CopiedElsewhere, IsLookedForOnAllNodes) {
    store_and_move(3);
    const State right = state();
    for (const int rank : {0, 1}) {
        damage_near(rank, ".image");
        damage(four_nodes[static_cast<size_t>(rank)], rank, ".image");
    }
    EXPECT_EQ(cluster.run({}).start(), 7U);
    for (const int rank : {0, 1}) {
        const fs::path near = file(cluster.nodes[static_cast<size_t>(rank)], rank, ".image");
        EXPECT_EQ(redset::bytes_of(near), right.at(near));
    }
}

// Of another set what is damaged is rebuilt, as always where that is possible.
TEST_F(CopiedElsewhere, IsTakenBySetsThatNeedIt) {
    cluster.set_size = 2;
    store_and_move(2);
    const State right = state();
    damage_near(0, ".image");
    damage_near(1, ".image");
    damage_near(2, ".image");
    damage("n2", 2, ".image");
    const std::vector<std::byte> left = redset::bytes_of(file("n2", 2, ".image"));
    EXPECT_EQ(cluster.run({}).start(), 7U);
    EXPECT_EQ(redset::bytes_of(file("n2", 2, ".image")), left);
    for (const int rank : {0, 1, 2}) {
        const fs::path near = file(cluster.nodes[static_cast<size_t>(rank)], rank, ".image");
        EXPECT_EQ(redset::bytes_of(near), right.at(near));
    }
}

TEST_F(CopiedElsewhere, IsNotTakenWhereThereIsNoRoomForIt) {
    store_and_move(2);
    damage_near(0, ".image");
    damage_near(1, ".image");
    {
        const SmallStores small(1);
        expect_that_nothing_changes();
    }
    EXPECT_EQ(cluster.run({}).start(), 7U);
}

TEST_F(CopiedElsewhere, IsThereForTheNextProgramWhereverOneDies) {
    store_and_move(2);
    const State damaged = damage_two();
    for (const int victim : {0, 1}) {
        int deaths = 0;
        for (bool died = true; died; deaths += died ? 1 : 0) {
            SCOPED_TRACE("rank " + std::to_string(victim) + " after call " +
                         std::to_string(deaths));
            put_back(damaged);
            {
                const DyingSystem dying({victim, 0}, deaths + 1);
                died = cluster.run({}).died;
            }
            ASSERT_EQ(cluster.run({}).start(), 7U);
        }
        EXPECT_GT(deaths, 10);
    }
}

TEST_F(CopiedElsewhere, IsThereForTheNextProgramWhereverARequestOfOneFails) {
    store_and_move(2);
    const State damaged = damage_two();
    const FailingSystem failing;
    for (const int victim : {0, 1}) {
        std::atomic<bool> happened = true;
        int failures = 0;
        for (int nth = 1; happened; ++nth) {
            SCOPED_TRACE("request " + std::to_string(nth) + " of rank " + std::to_string(victim));
            put_back(damaged);
            Cluster::Opening opening;
            opening.before = [&](int rank) { FailingSystem::fail_call(rank == victim ? nth : 0); };
            opening.after = [&](int rank) {
                if (rank == victim) {
                    happened = FailingSystem::happened();
                }
                FailingSystem::fail_call(0);
            };
            const auto run = cluster.run_steps(
                [](Cluster::Rank &self) { return self.protection().agree_on(Status::ok()); },
                opening);
            failures += run.outcome().code != CD_ERROR_NONE ? 1 : 0;
            ASSERT_EQ(cluster.run({}).start(), 7U);
        }
        EXPECT_GT(failures, 5);
    }
}

} // namespace
} // namespace cd::checkpoint
