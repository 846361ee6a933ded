// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Points in time on nodes where none of the root's ranks is come to where these are.

#include "protected.h"

#include "protection/fetching.h"

#include <filesystem>
#include <functional>
#include <string>

namespace cd::protection {
namespace {

const std::vector<std::string> four_others{"m0", "m1", "m2", "m3"};

// The root's four ranks are on other nodes than before, where ranks without the root are now.
struct Moved {
    std::vector<std::string> nodes = four_others;
    std::vector<std::string> of_others = four_nodes;
    std::function<void(int)> before = [](int) {};
    std::function<void(int)> after = [](int) {};
    bool died = false;

    std::vector<Elsewhere> elsewhere(const Cluster &cluster) const {
        std::vector<Elsewhere> all;
        for (size_t i = 0; i < of_others.size(); ++i) {
            all.push_back({"solver",
                           10 + static_cast<int>(i),
                           cluster.directory(of_others[i]).string(),
                           {},
                           0,
                           ""});
        }
        return all;
    }

    LocalProgram::Outcome fetch_in(const Cluster &cluster) {
        std::vector<std::string> all = nodes;
        all.insert(all.end(), of_others.begin(), of_others.end());
        std::vector<int> ranks{0, 1, 2, 3};
        for (size_t i = 0; i < of_others.size(); ++i) {
            ranks.push_back(10 + static_cast<int>(i));
        }
        LocalProgram program(all, ranks);
        const auto outcomes = program.run([&](std::unique_ptr<Job> job) {
            const RootApart root{"solver",
                                 {0, 1, 2, 3},
                                 {{cluster.directory(job->node()).string()}, std::nullopt},
                                 elsewhere(cluster)};
            before(job->rank());
            Status status = fetch(*job, root, true);
            after(job->rank());
            return status;
        });
        died = program.dead();
        for (const auto &outcome : outcomes) {
            EXPECT_TRUE(died || outcome == outcomes.front()) << outcome.text;
        }
        return outcomes.front();
    }
};

class Fetched : public Protected {
protected:
    LocalProgram::Outcome fetch() { return moved.fetch_in(cluster); }
    std::optional<uint64_t> start() {
        cluster.nodes = moved.nodes;
        return cluster.run({}).start();
    }
    bool is_left(const std::string &node) const {
        return std::filesystem::exists(cluster.directory(node) / "solver.points");
    }

    Moved moved;
};

TEST_F(Fetched, PointsInTimeAreFoundByTheRootsRanksAndNotWhereTheyWere) {
    cluster.run({6, 7});
    EXPECT_EQ(fetch().text, "");
    for (const std::string &node : four_nodes) {
        EXPECT_FALSE(is_left(node)) << node;
    }
    EXPECT_EQ(start(), 7U);
}

// As if they had been there all the time: each file by itself, with its mode and its times.
TEST_F(Fetched, FilesAreAsTheyWere) {
    cluster.run({7});
    const auto image = [&](const std::string &node) { return epoch_in(node, 7) / image_name(2); };
    std::filesystem::permissions(image("n2"), std::filesystem::perms::owner_read);
    const auto written = std::filesystem::last_write_time(image("n2"));
    EXPECT_EQ(fetch().text, "");
    EXPECT_EQ(std::filesystem::status(image("m2")).permissions(),
              std::filesystem::perms::owner_read);
    EXPECT_EQ(std::filesystem::last_write_time(image("m2")), written);
    for (size_t i = 0; i < four_others.size(); ++i) {
        for (const auto &each : std::filesystem::directory_iterator(epoch_in(four_others[i], 7))) {
            EXPECT_EQ(rank_of(each.path().filename().string()), static_cast<int>(i)) << each.path();
        }
    }
}

TEST_F(Fetched, WhatIsLostIsRebuiltThen) {
    cluster.run({7});
    lose({"n1"});
    moved.of_others = {"n0", "n2", "n3"};
    EXPECT_EQ(fetch().text, "");
    EXPECT_EQ(start(), 7U);
}

// One rank of the root is where it was, and one is where another one was.
TEST_F(Fetched, WhatRanksHaveThemselvesIsUsedAsItIs) {
    cluster.run({7});
    moved.nodes = {"n0", "n2", "m2", "m3"};
    moved.of_others = {"n1", "n3"};
    EXPECT_EQ(fetch().text, "");
    EXPECT_EQ(start(), 7U);
    EXPECT_FALSE(is_left("n1"));
    EXPECT_FALSE(is_left("n3"));
}

// By another name, or seen from another node.
TEST_F(Fetched, ADirectoryOfTheRootsOwnRanksStaysAsItIs) {
    cluster.run({7});
    moved.nodes = four_nodes;
    const auto files = files_of_ranks();
    EXPECT_EQ(fetch().text, "");
    EXPECT_EQ(files_of_ranks(), files);
    EXPECT_EQ(start(), 7U);
}

TEST_F(Fetched, ADirectoryThatSeveralSeeIsTakenOnce) {
    cluster.run({7});
    std::filesystem::create_directory_symlink(cluster.directory("n3"), cluster.directory("same"));
    moved.of_others = {"n0", "n1", "n2", "n3", "same"};
    EXPECT_EQ(fetch().text, "");
    EXPECT_EQ(start(), 7U);
}

TEST_F(Fetched, WhereThereIsNoRoomNothingIsLost) {
    cluster.run({7});
    {
        const SmallStores small(100);
        const auto told = fetch();
        EXPECT_EQ(told.code, CD_ERROR_STORE_FULL);
        EXPECT_NE(told.text.find("for which there is no room here"), std::string::npos)
            << told.text;
    }
    for (const std::string &node : four_nodes) {
        EXPECT_TRUE(is_left(node)) << node;
    }
    EXPECT_EQ(fetch().text, "");
    EXPECT_EQ(start(), 7U);
}

// Also where only a node tells of that on which none of the root's ranks is.
TEST_F(Fetched, WhatACommitHasForgottenIsForgotten) {
    cluster.run({7});
    const auto point = point_of(epoch_in("n0", 7).filename().string());
    ASSERT_TRUE(folder_in("n2").bury({point->number, {point->session}}, 2));
    moved.nodes = {"n0", "n1", "m2", "n3"};
    moved.of_others = {"n2"};
    EXPECT_EQ(fetch().text, "");
    EXPECT_FALSE(is_left("n2"));
    EXPECT_EQ(start(), std::nullopt);
}

TEST_F(Fetched, TombstonesOfOneNumberBecomeOne) {
    cluster.run({7});
    const auto point = point_of(epoch_in("n0", 7).filename().string());
    ASSERT_TRUE(folder_in("n0").bury({point->number, {point->session}}, 0));
    ASSERT_TRUE(folder_in("n2").bury({point->number, {77}}, 2));
    moved.nodes = {"n0", "n1", "m2", "n3"};
    moved.of_others = {"n2"};
    EXPECT_EQ(fetch().text, "");
    EXPECT_EQ(start(), std::nullopt);
}

// A root of this name that other ranks had is another one.
TEST_F(Fetched, FilesOfRanksThatDoNotHaveTheRootStay) {
    cluster.ranks = {0, 1, 2, 5};
    cluster.run({7});
    EXPECT_EQ(fetch().text, "");
    EXPECT_FALSE(is_left("n0"));
    EXPECT_TRUE(is_left("n3"));
}

TEST_F(Fetched, WhateverCannotBeLookedAtIsLeftAlone) {
    cluster.run({7});
    std::filesystem::create_directory(cluster.directory("n1") / "solver.points" / "forgotten-3");
    EXPECT_EQ(fetch().text, "");
    EXPECT_TRUE(is_left("n1"));
    EXPECT_EQ(start(), 7U); // one is lost
}

// ---- Whatever happens in between

// A rank of the root, and one that holds something of it.
constexpr int concerned[] = {1, 12};

TEST(Fetching, ThatDiesAnywhereIsDoneByTheNextOne) {
    for (const int victim : concerned) {
        int deaths = 0;
        bool died = true;
        for (int nth = 1; died && !testing::Test::HasFailure(); nth = next_fault(nth)) {
            SCOPED_TRACE("rank " + std::to_string(victim) + ", before call " + std::to_string(nth));
            const TimeLimit limit(60);
            Cluster cluster(four_nodes);
            Moved moved;
            {
                const DyingSystem system;
                cluster.run({6, 7});
            }
            {
                const DyingSystem system({victim, 0}, nth);
                (void)moved.fetch_in(cluster);
                died = moved.died;
                deaths += died ? 1 : 0;
            }
            const DyingSystem system;
            EXPECT_EQ(moved.fetch_in(cluster).text, "");
            cluster.nodes = moved.nodes;
            EXPECT_EQ(cluster.run({}).start(), 7U);
            for (const std::string &node : four_nodes) {
                EXPECT_FALSE(std::filesystem::exists(cluster.directory(node) / "solver.points"))
                    << node;
            }
        }
        EXPECT_GT(deaths, 5);
    }
}

TEST(Fetching, ThatFailsAnywhereLosesNothing) {
    for (const int failing : concerned) {
        int failures = 0;
        std::atomic<bool> happened = true;
        for (int nth = 1; happened && !testing::Test::HasFailure(); nth = next_fault(nth)) {
            SCOPED_TRACE("rank " + std::to_string(failing) + ", call " + std::to_string(nth));
            const TimeLimit limit(60);
            const FailingSystem system;
            Cluster cluster(four_nodes);
            cluster.run({6, 7});
            Moved moved;
            happened = false;
            moved.before = [&](int rank) { FailingSystem::fail_call(rank == failing ? nth : 0); };
            moved.after = [&](int rank) {
                if (rank == failing) {
                    happened = FailingSystem::happened();
                }
                FailingSystem::fail_call(0);
            };
            failures += moved.fetch_in(cluster).code != CD_ERROR_NONE ? 1 : 0;
            moved.before = moved.after = [](int) {};
            EXPECT_EQ(moved.fetch_in(cluster).text, "");
            cluster.nodes = moved.nodes;
            EXPECT_EQ(cluster.run({}).start(), 7U);
        }
        EXPECT_GT(failures, failing < 10 ? 5 : -1);
    }
}

} // namespace
} // namespace cd::protection
