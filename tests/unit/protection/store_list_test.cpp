// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Stores that a later program does not name.

#include "protected.h"

namespace cd::protection {
namespace {

class Elsewhere : public Protected {
protected:
    // Levels of which the second one has a store of its own, for each other epoch.
    void use_store(const std::string &name) {
        cluster.config = cluster.write_config(
            "CKPT=0 TYPE=XOR\nCKPT=1 INTERVAL=2 TYPE=RS CKSUM=2 STORE=" + path_of(name) + "\n");
    }
    std::string path_of(const std::string &name) const { return cluster.directory(name).string(); }
    bool is_there(const std::string &name) const {
        return std::filesystem::exists(cluster.directory(name) / "solver.points");
    }
    std::filesystem::path list_of(const std::string &node) const {
        return cluster.directory(node) / "solver.points" / "stores";
    }
};

TEST_F(Elsewhere, WhatIsInAStoreThatAConfigurationDoesNotNameAnyMoreIsFound) {
    use_store("levels");
    cluster.run({1, 2});
    use_store("others");
    EXPECT_EQ(cluster.run({}).start(), 2U);
    EXPECT_EQ(cluster.run({3}).start(), 2U);
    EXPECT_EQ(cluster.run({}).start(), 3U);
    lose({"n0", "n1"}); // of epoch 3 too much
    EXPECT_EQ(cluster.run({}).start(), 2U);
    cluster.config = "";
    EXPECT_EQ(cluster.run({}).start(), 2U);
}

TEST_F(Elsewhere, AStoreIsForgottenWhenNothingIsLeftInIt) {
    use_store("levels");
    cluster.run({1, 2});
    use_store("others");
    cluster.run({3, 4}); // the level's next, which takes the place of the one before
    EXPECT_EQ(cluster.run({}).start(), 4U);
    EXPECT_FALSE(is_there("levels"));
    cluster.config = "";
    cluster.run({5}, true);
    EXPECT_FALSE(is_there("others"));
    for (const std::string &node : four_nodes) {
        EXPECT_FALSE(is_there(node));
    }
}

TEST_F(Elsewhere, AFlushThatIsNotAskedForAnyMoreIsFound) {
    cluster.flush = path_of("parallel");
    cluster.run({1, 2, 3});
    cluster.flush = "";
    lose({"n0", "n1"});
    EXPECT_EQ(cluster.run({}).start(), 2U);
    cluster.flush = path_of("other");
    EXPECT_EQ(cluster.run({}).start(), 2U);
}

TEST_F(Elsewhere, OneListIsEnoughAndNoneIsAnErrorThatNamesIt) {
    use_store("levels");
    cluster.run({1, 2});
    cluster.config = "";
    const auto damage = [&](const std::string &node) {
        std::filesystem::resize_file(list_of(node), 30);
    };
    damage("n0");
    damage("n1");
    std::filesystem::remove(list_of("n2"));
    EXPECT_EQ(cluster.run({}).start(), 2U);
    for (const std::string &node : four_nodes) {
        damage(node); // all are there again
    }
    const auto outcome = cluster.run({}).outcome();
    EXPECT_EQ(outcome.code, CD_ERROR_STORE_DAMAGED);
    EXPECT_NE(outcome.text.find(list_of("n0").string()), std::string::npos) << outcome.text;
    EXPECT_NE(outcome.text.find("remove the file"), std::string::npos) << outcome.text;
    use_store("levels");
    for (const std::string &node : four_nodes) {
        std::filesystem::remove(list_of(node));
    }
    EXPECT_EQ(cluster.run({}).start(), 2U);
}

TEST_F(Elsewhere, AStoreThatCannotBeOpenedIsAnErrorThatSaysWhoKnowsOfIt) {
    use_store("levels");
    cluster.run({1, 2});
    cluster.config = "";
    const auto points = cluster.directory("levels") / "solver.points";
    const auto aside = cluster.directory("aside");
    std::filesystem::rename(points, aside);
    std::filesystem::create_directory_symlink(aside, points);
    const auto outcome = cluster.run({}).outcome();
    EXPECT_EQ(outcome.code, CD_ERROR_STORE_DIRECTORY);
    EXPECT_NE(outcome.text.find("an earlier program of this root had points in time in " +
                                path_of("levels")),
              std::string::npos)
        << outcome.text;
    std::filesystem::remove(points);
    std::filesystem::rename(aside, points);
    EXPECT_EQ(cluster.run({}).start(), 2U);
}

TEST_F(Elsewhere, AStoreThatNoNodeHasAnyMoreIsToldOnce) {
    use_store("levels");
    cluster.run({1, 2, 3});
    cluster.config = "";
    cluster.lose("levels");
    EXPECT_EQ(cluster.run({}).start(), 3U);
    ASSERT_EQ(system.told().size(), 1U);
    EXPECT_EQ(system.told().front(),
              "root \"solver\": earlier programs had points in time in " + path_of("levels") +
                  ", which no node has any more: what was there is not found");
    EXPECT_EQ(cluster.run({}).start(), 3U);
    EXPECT_EQ(system.told().size(), 1U);
}

TEST_F(Elsewhere, AStoreByAnotherNameIsTheSame) {
    use_store("levels");
    cluster.run({1, 2});
    std::filesystem::create_directory_symlink(path_of("levels"), path_of("link"));
    use_store("link");
    EXPECT_EQ(cluster.run({4}).start(), 2U);
    EXPECT_EQ(cluster.run({}).start(), 4U);
}

} // namespace
} // namespace cd::protection
