// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Points in time that ranks see which do not have the root.

#include "protected.h"

#include "checkpoint/elsewhere.h"
#include "checkpoint/fetching.h"
#include "checkpoint/store_list.h"

#include <cerrno>

namespace cd::checkpoint {
namespace {

class PointsElsewhere : public Protected {
protected:
    static Elsewhere seen(uint64_t number, uint64_t epoch) {
        return {"solver", 9, "/local", {number, epoch, 0, 77}, "node:1:2"};
    }
    LocalProgram::Outcome outcome() const { return cluster.run({}).outcome(); }
};

TEST_F(PointsElsewhere, AreAnErrorWhereTheyAreLaterThanWhatTheRootsOwnRanksFind) {
    for (const char *const here : {"nothing", "epoch 7"}) {
        cluster.elsewhere = {seen(3, 5), seen(4, 8)};
        const auto told = outcome();
        EXPECT_EQ(told.code, CD_ERROR_RESTART_MISMATCH);
        EXPECT_TRUE(told.text.starts_with("epoch 8 of root \"solver\" is in /local/solver.points "
                                          "of rank 9, which does not have this root, and its own "
                                          "ranks find " +
                                          std::string(here) + ": "))
            << told.text;
        EXPECT_NE(told.text.find("a directory of an earlier configuration that not all of these "
                                 "can have. End that job, make that directory on their nodes, or "),
                  std::string::npos)
            << told.text;
        cluster.elsewhere = {};
        cluster.run({7});
    }
    EXPECT_EQ(cluster.run({}).start(), 7U); // nothing was deleted
}

TEST_F(PointsElsewhere, AreLeftWhereTheyAreIfSomethingLaterIsFound) {
    cluster.run({6, 7});
    cluster.elsewhere = {seen(1, 8), seen(2, 9)};
    EXPECT_EQ(cluster.run({}).start(), 7U);
}

TEST_F(PointsElsewhere, AreLeftOutByTheChoiceOfAnotherEpochOrOfNone) {
    cluster.run({7});
    cluster.elsewhere = {seen(9, 8)};
    cluster.restart = "7";
    EXPECT_EQ(cluster.run({}).start(), 7U);
    cluster.restart = "8";
    EXPECT_EQ(outcome().code, CD_ERROR_RESTART_MISMATCH);
    cluster.restart = "no";
    EXPECT_EQ(cluster.run({}).start(), std::nullopt);
}

TEST_F(PointsElsewhere, DoNotCountOnceTheRootWasCommitted) {
    cluster.run({7});
    ASSERT_TRUE(folder_in("n0").write_commit_marker({9, {77}}, 0));
    cluster.elsewhere = {seen(9, 8)};
    EXPECT_EQ(cluster.run({}).start(), 7U);
}

TEST_F(PointsElsewhere, AreToldOfWhereFilesAreLost) {
    cluster.run({7});
    lose({"n1", "n2"});
    cluster.elsewhere = {seen(1, 7)};
    const auto told = outcome();
    EXPECT_EQ(told.code, CD_ERROR_REDUNDANCY_EXCEEDED);
    EXPECT_NE(told.text.find("; rank 9, which does not have this root, sees points in time of it "
                             "in /local/solver.points: start its ranks on the nodes"),
              std::string::npos)
        << told.text;
}

// Ranks that share a directory of this name, of which the first has the root or not.
std::vector<Elsewhere> seen_in(const std::vector<std::string> &directories,
                               const RanksOfRoots &roots, int rank) {
    std::vector<Asked> asked(10);
    for (Asked &each : asked) {
        each.directories = {directories.front()};
    }
    asked[5].directories = directories;
    return see_points(roots, asked, rank, "node");
}

TEST_F(PointsElsewhere, AreTheLatestThatCountInEachDirectory) {
    cluster.run({6, 7});
    const std::string here = cluster.directory("n0").string();
    const std::vector<std::string> directories{cluster.directory("nowhere").string(), here};
    const RanksOfRoots roots{{"other", {3, 4, 5}}, {"solver", {0, 1, 2}}};
    const auto found = seen_in(directories, roots, 4);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0], (Elsewhere{"solver", 4, here, found[0].latest, found[0].identity}));
    EXPECT_EQ(found[0].latest.epoch, 7U);

    redset::Bytes told;
    std::vector<Elsewhere> heard;
    ASSERT_TRUE(encode(found, told));
    ASSERT_TRUE(decode(told, heard));
    EXPECT_EQ(heard, found);

    for (const auto &each : std::filesystem::directory_iterator(epoch_in("n0", 7))) {
        if (each.path().extension() == ".agreed") {
            std::filesystem::remove(each.path());
        }
    }
    EXPECT_TRUE(seen_in(directories, roots, 4).empty());
}

TEST_F(PointsElsewhere, OfOtherRanksAreOfAnotherRootOfThisName) {
    cluster.run({7});
    const std::vector<std::string> directories{cluster.directory("n0").string()};
    EXPECT_EQ(seen_in(directories, {{"solver", {0, 9}}}, 5).size(), 1U);
    EXPECT_TRUE(seen_in(directories, {{"solver", {1, 9}}}, 5).empty());
}

// What a rank asks for itself is where it looks for its own.
TEST_F(PointsElsewhere, AreNotWhereARankOfTheRootSeesThem) {
    cluster.run({7});
    const RanksOfRoots roots{{"other", {3, 4, 5}}, {"solver", {0, 1, 2}}};
    const std::vector<std::string> directories{cluster.directory("n0").string(),
                                               cluster.directory("n1").string()};
    std::vector<Elsewhere> seen;
    for (int rank = 0; rank < 5; ++rank) {
        const auto own = seen_in(directories, roots, rank);
        EXPECT_EQ(own.size(), rank < 3 ? 1U : 2U) << rank;
        seen.insert(seen.end(), own.begin(), own.end());
    }
    std::vector<Asked> asked(5);
    auto elsewhere = find_elsewhere(roots, asked, seen);
    ASSERT_EQ(elsewhere.size(), 1U);
    EXPECT_EQ(elsewhere[0].rank, 3);
    EXPECT_EQ(elsewhere[0].directory, directories[1]);

    asked[4].directories = {directories[1]}; // it is on the node of that one
    elsewhere = find_elsewhere(roots, asked, seen);
    ASSERT_EQ(elsewhere.size(), 1U);
    EXPECT_EQ(elsewhere[0].rank, 4);
}

TEST_F(PointsElsewhere, AreSeenWhereAListSaysThatThereMayBeSome) {
    cluster.run({7});
    const std::string there = cluster.directory("n0").string();
    const std::string asked = cluster.directory("n9").string();
    CheckpointDir folder;
    ASSERT_TRUE(CheckpointDir::open(asked, "solver", false, folder));
    ASSERT_TRUE(write_store_list(folder, 0, false, {there}));
    const RanksOfRoots roots{{"other", {3, 4, 5}}, {"solver", {0, 1, 2}}};
    const auto seen = seen_in({asked}, roots, 5);
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen[0].directory, there);
}

// Be it on another node.
TEST_F(PointsElsewhere, AreSeenWhereAListOfTheRootsRanksSaysThatThereMayBeSome) {
    cluster.run({7});
    const std::string there = cluster.directory("n0").string();
    const RanksOfRoots roots{{"other", {3}}, {"solver", {0, 1, 2}}};
    std::vector<Asked> asked(4);
    asked[1].listed = {there};
    for (const int rank : {2, 3}) {
        const auto seen = see_points(roots, asked, rank, "node");
        ASSERT_EQ(seen.size(), 1U) << rank;
        EXPECT_EQ(seen[0].directory, there);
    }
}

TEST_F(PointsElsewhere, AreAnErrorWhereNobodyCanTellWhetherThereAreAny) {
    cluster.run({7});
    const std::string there = cluster.directory("n0").string();
    const RanksOfRoots roots{{"solver", {0, 9}}};
    std::vector<Elsewhere> seen;
    for (const int working : {0, 1}) { // lists, of the directory and of the attempt in it
        class Closed : public DyingSystem {
        public:
            explicit Closed(int working) : working_(working) {}
            int list(int directory, std::vector<std::string> &names) override {
                if (working_-- > 0) {
                    return System::list(directory, names);
                }
                errno = EIO;
                return -1;
            }

        private:
            int working_;
        };
        {
            const Closed closed(working);
            seen = seen_in({there}, roots, 5);
        }
        ASSERT_EQ(seen.size(), 1U);
        EXPECT_NE(seen[0].problem.find(there + "/solver.points"), std::string::npos)
            << seen[0].problem;
        EXPECT_TRUE(root_apart("solver", {0, 9}, 5, std::vector<Asked>(10), seen).holdings.empty());
    }
    cluster.elsewhere = seen;
    EXPECT_EQ(outcome().code, CD_ERROR_RESTART_MISMATCH);
    EXPECT_NE(outcome().text.find(seen[0].problem), std::string::npos);
    cluster.restart = "7";
    EXPECT_EQ(cluster.run({}).start(), 7U);
    cluster.restart = "no";
    EXPECT_EQ(cluster.run({}).start(), std::nullopt);
}

// What could not come may do so once the root was committed.
TEST_F(PointsElsewhere, AreForgottenWithACommit) {
    cluster.run({7});
    std::filesystem::rename(cluster.directory("n3"), cluster.directory("held"));
    cluster.elsewhere = {seen(1, 7)};
    cluster.run({8}, true);
    cluster.elsewhere = {};
    std::filesystem::remove_all(cluster.directory("n3"));
    std::filesystem::rename(cluster.directory("held"), cluster.directory("n3"));
    EXPECT_EQ(cluster.run({}).start(), std::nullopt);
    cluster.run({}, true);
    EXPECT_FALSE(std::filesystem::exists(cluster.directory("n0") / "solver.points"));
}

TEST_F(PointsElsewhere, AreLookedForWithWhatOthersAskFor) {
    cluster.run({7});
    Request request;
    request.root = "solver";
    request.restart = "no";
    request.stores = {cluster.directory("n0").string(), "/copies", "/ssd"};
    request.flush_store = 1;
    request.levels = {{3, 1, {}, "", 0}, {5, 4, {}, "", 2}};
    ASSERT_TRUE(write_store_list(folder_in("n0"), 0, false, {"/copies", "/earlier"}));
    const Asked asked = asked_in(request);
    EXPECT_EQ(asked, (Asked{request.stores, 1, {{3, 0}, {5, 2}}, {"/copies", "/earlier"}, true}));

    redset::Bytes told;
    Asked heard;
    ASSERT_TRUE(encode(asked, told));
    ASSERT_TRUE(decode(told, heard));
    EXPECT_EQ(heard, asked);
}

} // namespace
} // namespace cd::checkpoint
