// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// The same from directories that only an earlier configuration had.

#include "each_fault.h"
#include "moved.h"

#include "checkpoint/store_list.h"

namespace cd::checkpoint {
namespace {

// What the nodes have is in a directory that is listed there.
void move_to_earlier(const Cluster &cluster) {
    for (const std::string &node : four_nodes) {
        const auto directory = cluster.directory(node);
        std::filesystem::create_directory(directory / "ssd");
        std::filesystem::rename(directory / "solver.points", directory / "ssd/solver.points");
        CheckpointDir folder;
        ASSERT_TRUE(CheckpointDir::open(directory.string(), "solver", false, folder));
        ASSERT_TRUE(write_store_list(folder, 0, false, {(directory / "ssd").string()}));
    }
}

class FetchedFromEarlier : public Fetched {
protected:
    void SetUp() override {
        cluster.run({6});
        for (const std::string &node : four_nodes) {
            std::filesystem::copy(epoch_in(node, 6), cluster.directory(node) / "six");
            name_of_six = epoch_in(node, 6).filename();
        }
        cluster.run({7});
        move_to_earlier(cluster);
        moved.earlier = "ssd";
    }
    void put_another_into_the_first() const {
        for (const std::string &node : four_nodes) {
            std::filesystem::copy(cluster.directory(node) / "six",
                                  cluster.directory(node) / "solver.points" / name_of_six);
        }
    }
    std::vector<std::string> listed_in(const std::string &node) const {
        StoreList list;
        EXPECT_TRUE(read_store_list(folder_in(node), list));
        return list.directories;
    }
    std::filesystem::path ssd(const std::string &node) const {
        return cluster.directory(node) / "ssd";
    }

    std::filesystem::path name_of_six;
};

TEST_F(FetchedFromEarlier, TheyKeepTheirDirectoriesWhichAreListed) {
    EXPECT_EQ(fetch().text, "");
    for (size_t i = 0; i < four_nodes.size(); ++i) {
        EXPECT_FALSE(is_left(four_nodes[i] + "/ssd")) << four_nodes[i];
        EXPECT_EQ(epochs_in(four_others[i] + "/ssd"), Epochs{7});
        EXPECT_EQ(listed_in(four_others[i]), std::vector{ssd(four_others[i]).string()});
    }
}

TEST_F(FetchedFromEarlier, AListGoesWithTheLastOfWhatItNames) {
    put_another_into_the_first();
    moved.earlier = "";
    EXPECT_EQ(fetch().text, "");
    EXPECT_EQ(listed_in("n0"), std::vector{ssd("n0").string()});
    EXPECT_EQ(epochs_in("m0"), Epochs{6});
    put_another_into_the_first();
    moved.earlier = "ssd";
    moved.are_in_both = true;
    EXPECT_EQ(fetch().text, "");
    for (const std::string &node : four_nodes) {
        EXPECT_FALSE(is_left(node)) << node;
        EXPECT_FALSE(is_left(node + "/ssd")) << node;
    }
}

// As a file system that all nodes see.
TEST_F(FetchedFromEarlier, AListGoesAlsoWhereTheRootsRanksHaveWhatItNames) {
    const std::string shared = cluster.directory("shared").string();
    std::filesystem::rename(ssd("n0"), shared);
    for (const std::string &node : four_nodes) {
        ASSERT_TRUE(write_store_list(folder_in(node), 0, false, {shared}));
    }
    put_another_into_the_first();
    moved.earlier = shared;
    moved.are_in_both = true;
    EXPECT_EQ(fetch().text, "");
    for (size_t i = 0; i < four_nodes.size(); ++i) {
        EXPECT_FALSE(is_left(four_nodes[i])) << four_nodes[i];
        EXPECT_EQ(listed_in(four_others[i]), std::vector{shared});
    }
    EXPECT_EQ(epochs_in("shared"), Epochs{7});
}

// All of them: what one store has of a point in time is all that counts.
TEST_F(FetchedFromEarlier, TheyStayWhereNotAllRanksCanHaveTheirDirectory) {
    std::filesystem::create_directories(cluster.directory("m2"));
    std::ofstream(ssd("m2")) << "a file";
    EXPECT_EQ(fetch().text, "");
    for (size_t i = 0; i < four_nodes.size(); ++i) {
        EXPECT_EQ(epochs_in(four_nodes[i] + "/ssd"), Epochs{7});
        EXPECT_EQ(listed_in(four_nodes[i]), std::vector{ssd(four_nodes[i]).string()});
        EXPECT_FALSE(is_left(four_others[i] + "/ssd")) << four_others[i];
        EXPECT_EQ(epochs_in(four_others[i]), Epochs{});
    }
}

TEST_F(FetchedFromEarlier, CopiesStayWhereTheyAreAndAreListedThere) {
    for (const std::string &node : four_nodes) {
        for (const auto &each : std::filesystem::directory_iterator(ssd(node) / "solver.points")) {
            auto point = *point_of(each.path().filename().string());
            point.level = flush_level;
            std::filesystem::rename(each.path(), each.path().parent_path() / directory_name(point));
        }
    }
    put_another_into_the_first();
    moved.are_in_both = true;
    EXPECT_EQ(fetch().text, "");
    EXPECT_EQ(listed_in("n0"), std::vector{ssd("n0").string()});
    EXPECT_EQ(epochs_in("m0"), Epochs{6});
    EXPECT_EQ(epochs_in("n0/ssd"), Epochs{7});
    EXPECT_EQ(epochs_in("m0/ssd"), Epochs{});
}

// What has come is never in a directory that is not listed when it is nowhere else.
TEST_F(FetchedFromEarlier, WhereItDiesAnywhereAllThatHasComeAndGoneIsListed) {
    for (const int victim : {1, 12}) {
        int deaths = 0;
        bool died = true;
        for (int nth = 1; died && !HasFailure(); nth = next_fault(nth)) {
            SCOPED_TRACE("rank " + std::to_string(victim) + ", before call " + std::to_string(nth));
            const TimeLimit limit(60);
            for (const auto &nodes : {four_nodes, four_others}) {
                lose(nodes);
            }
            cluster.nodes = four_nodes;
            cluster.run({7});
            move_to_earlier(cluster);
            {
                const DyingSystem dying({victim, 0}, nth);
                (void)fetch();
                died = moved.died;
                deaths += died ? 1 : 0;
            }
            for (size_t i = 0; i < four_nodes.size(); ++i) {
                EXPECT_TRUE(is_left(four_nodes[i] + "/ssd") || !listed_in(four_others[i]).empty())
                    << four_nodes[i];
            }
            EXPECT_EQ(fetch().text, "");
            for (size_t i = 0; i < four_nodes.size(); ++i) {
                EXPECT_FALSE(is_left(four_nodes[i] + "/ssd")) << four_nodes[i];
                EXPECT_EQ(epochs_in(four_others[i] + "/ssd"), Epochs{7});
                EXPECT_EQ(files_in(four_others[i] + "/ssd").size(), 5U);
                EXPECT_EQ(listed_in(four_others[i]), std::vector{ssd(four_others[i]).string()});
            }
        }
        EXPECT_GT(deaths, 5);
    }
}

} // namespace
} // namespace cd::checkpoint
