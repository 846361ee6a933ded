// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What config= says.

#include "protected.h"

namespace cd::checkpoint {
namespace {

class Leveled : public Protected {
protected:
    void SetUp() override { cluster.config = cluster.write_config(levels); }

    static constexpr char levels[] = "GROUPS=n0 SWITCH=a\nGROUPS=n1 SWITCH=b\n"
                                     "GROUPS=n2 SWITCH=a\nGROUPS=n3 SWITCH=b\n"
                                     "CKPT=0 INTERVAL=1 TYPE=XOR\n"
                                     "CKPT=1 INTERVAL=3 TYPE=RS CKSUM=2\n"
                                     "CKPT=2 INTERVAL=4 TYPE=PARTNER GROUP=SWITCH SET_SIZE=2\n";
};

TEST_F(Leveled, EachEpochHasTheLargestLevelThatDividesIt) {
    cluster.run({1, 2, 3, 4, 5});
    std::vector<std::string> found;
    for (const auto &each :
         std::filesystem::directory_iterator(cluster.directory("n0") / "solver.points")) {
        const std::string name = each.path().filename();
        found.push_back(name.substr(0, name.rfind('.')));
    }
    std::ranges::sort(found);
    EXPECT_EQ(found, (std::vector<std::string>{"epoch-3.3.1", "epoch-4.4.2", "epoch-5.5.0"}));
    EXPECT_EQ(cluster.run({}).start(), 5U);
}

TEST_F(Leveled, WhereNoRecordOfOneLevelCanBeReadAnOlderOneOfAnotherIsTaken) {
    cluster.run({1, 2, 3, 4, 5});
    for (int rank = 0; rank < 4; ++rank) {
        const auto points = cluster.directory(four_nodes[redset::index(rank)]) / "solver.points";
        for (const auto &each : std::filesystem::directory_iterator(points)) {
            if (each.path().filename().string().starts_with("epoch-5.")) {
                std::filesystem::resize_file(each.path() / committed_record_name(rank), 10);
            }
        }
    }
    EXPECT_EQ(cluster.run({}).start(), 4U);
    ASSERT_EQ(system.told().size(), 1U);
    const std::string line = system.told().front();
    EXPECT_TRUE(line.starts_with("epoch 5: no record of ranks 0, 1, 2, 3 can be read")) << line;
    EXPECT_TRUE(line.ends_with("; starting from epoch 4")) << line;
}

TEST_F(Leveled, WhatOneLevelDoesNotSurviveAnOlderOneOfAnotherMay) {
    cluster.run({1, 2, 3, 4, 5});
    lose({"n0", "n2"}); // a switch, with its two nodes: one more than xor covers
    EXPECT_EQ(cluster.run({}).start(), 4U);
    ASSERT_EQ(system.told().size(), 1U);
    const std::string line = system.told().front();
    EXPECT_NE(line.find("epoch 5: set 1 of 1"), std::string::npos) << line;
    EXPECT_NE(line.find("ranks 0, 2 are lost"), std::string::npos) << line;
    EXPECT_TRUE(line.ends_with("; starting from epoch 4")) << line;
    EXPECT_EQ(cluster.run({5, 6, 7}).start(), 4U);
    lose({"n0", "n1"}); // one of each switch
    EXPECT_EQ(cluster.run({}).start(), 6U);
}

TEST_F(Leveled, AnotherStoreIsUsedWhereALevelNamesOne) {
    const std::string elsewhere = cluster.directory("elsewhere").string();
    cluster.config = cluster.write_config("CKPT=0 TYPE=XOR\n"
                                          "CKPT=1 INTERVAL=2 TYPE=SINGLE STORE=" +
                                          elsewhere + "\n");
    cluster.run({1, 2, 3});
    lose(four_nodes);
    EXPECT_EQ(cluster.run({3}, true).start(), 2U);
    EXPECT_EQ(cluster.run({}).start(), std::nullopt);
}

TEST_F(Leveled, OneDirectoryUnderTwoNamesIsRefused) {
    const std::string shared = cluster.directory("shared").string();
    const std::string link = cluster.directory("link").string();
    std::filesystem::create_directories(shared);
    std::filesystem::create_directory_symlink(shared, link);
    const auto refused = [&](const std::string &one, const std::string &other) {
        const auto text = cluster.run({}).outcome().text;
        EXPECT_NE(text.find(one + "/solver.points and " + other +
                            "/solver.points are one directory; give dir=, flush= and each STORE="),
                  std::string::npos)
            << text;
        EXPECT_FALSE(std::filesystem::exists(shared + "/solver.points"));
    };
    cluster.config = "";
    cluster.nodes = {"shared"};
    cluster.flush = link;
    refused(shared, link);
    cluster.nodes = {"n0", "shared"};
    refused(shared, link);
    cluster.config = cluster.write_config("CKPT=0 TYPE=XOR STORE=" + shared + "\n");
    cluster.nodes = {"n0"};
    refused(link, shared);
    cluster.flush = "";
    EXPECT_EQ(cluster.run({1}).start(), std::nullopt);
    EXPECT_EQ(cluster.run({}).start(), 1U);
}

TEST_F(Leveled, VariablesThatDifferBetweenRanksAreRefused) {
    class OwnVariables : public DyingSystem {
    public:
        explicit OwnVariables(std::string root) : root_(std::move(root)) {
            for (const char *each : {"/s0", "/s1"}) {
                values_.push_back(root_ + each);
            }
        }
        const char *environment(const char *name) override {
            return std::string(name) != "SCRATCH" ? nullptr
                   : differ ? values_[redset::index(rank_of_this_thread() % 2)].c_str()
                            : root_.c_str();
        }
        bool differ = true;

    private:
        const std::string root_;
        std::vector<std::string> values_;
    } variables(cluster.directory("far").string());
    cluster.config = cluster.write_config("CKPT=0 TYPE=XOR STORE=$SCRATCH\n");
    const auto outcome = cluster.run({1}).outcome();
    EXPECT_EQ(outcome.code, CD_ERROR_ARGUMENT);
    EXPECT_NE(outcome.text.find(", SCRATCH=" + cluster.directory("far/s1").string()),
              std::string::npos)
        << outcome.text;
    variables.differ = false;
    EXPECT_EQ(cluster.run({2}).start(), std::nullopt);
}

TEST_F(Leveled, ANodeWithoutAGroupIsNamed) {
    cluster.nodes = {"n0", "n1", "n2", "other"};
    cluster.config = cluster.write_config(levels);
    const auto run = cluster.run({});
    EXPECT_EQ(run.outcomes.back().code, CD_ERROR_STORAGE_VALUE);
    EXPECT_NE(run.outcomes.back().text.find("GROUPS=other SWITCH="), std::string::npos)
        << run.outcomes.back().text;
}

} // namespace
} // namespace cd::checkpoint
