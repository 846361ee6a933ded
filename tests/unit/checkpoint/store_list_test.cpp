// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Stores that a later program does not name.

#include "checkpoint/store_list.h"
#include "protected.h"

#include <fcntl.h>

#include <cerrno>
#include <string_view>

namespace cd::checkpoint {
namespace {

class StoreListElsewhere : public Protected {
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

TEST_F(StoreListElsewhere, WhatIsInAStoreThatAConfigurationDoesNotNameAnyMoreIsFound) {
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

TEST_F(StoreListElsewhere, AStoreIsForgottenWhenNothingIsLeftInIt) {
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

TEST_F(StoreListElsewhere, OfARootThatFailsNothingIsLeftUnlessSomethingWasThere) {
    const auto fail_to_create = [&](bool another_removes) {
        const auto run = cluster.run_steps([&](Cluster::Rank &self) {
            Status status = self.protection().agree_on(
                self.number() == 2 ? fail(CD_ERROR_STORE_FULL, "full") : Status::ok());
            if (another_removes && self.number() == 3) {
                std::error_code others_do; // at the same time
                std::filesystem::remove_all(cluster.directory("levels") / "solver.points",
                                            others_do);
            }
            return status;
        });
        EXPECT_EQ(run.outcome().code, CD_ERROR_STORE_FULL);
    };
    use_store("levels");
    fail_to_create(true);
    for (const std::string &node : four_nodes) {
        EXPECT_FALSE(is_there(node)) << node;
    }
    EXPECT_FALSE(is_there("levels"));
    cluster.run({2});
    fail_to_create(false);
    cluster.config = "";
    EXPECT_EQ(cluster.run({}).start(), 2U);
}

// Nothing newer of its level would ever take its place.
TEST_F(StoreListElsewhere,
       OfALevelThatIsNotThereAnyMoreAPointInTimeGoesWhenANewerOneOfAnyLevelCounts) {
    use_store("levels");
    cluster.run({1, 2});
    cluster.config = "";
    const auto run = cluster.run_steps([&](Cluster::Rank &self) {
        EXPECT_FALSE(self.number() == 1 ? self.miss(3) : self.protect(3)); // nothing counts
        return Status::ok();
    });
    EXPECT_EQ(run.start(), 2U);
    EXPECT_EQ(epochs_in("levels"), Epochs{2});
    EXPECT_EQ(cluster.run({4}).start(), 2U);
    EXPECT_FALSE(is_there("levels"));
    EXPECT_EQ(cluster.run({}).start(), 4U);
}

TEST_F(StoreListElsewhere, AFlushThatIsNotAskedForAnyMoreIsFound) {
    cluster.flush = path_of("parallel");
    cluster.run({1, 2, 3});
    cluster.flush = "";
    lose({"n0", "n1"});
    EXPECT_EQ(cluster.run({}).start(), 2U);
    cluster.flush = path_of("other");
    EXPECT_EQ(cluster.run({}).start(), 2U);
}

TEST_F(StoreListElsewhere, OneListIsEnoughAndNoneIsAnErrorThatNamesIt) {
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

TEST_F(StoreListElsewhere, AStoreThatCannotBeOpenedIsAnErrorThatSaysWhoKnowsOfIt) {
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

TEST_F(StoreListElsewhere, AStoreThatNoNodeHasAnyMoreIsToldOnce) {
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

TEST_F(StoreListElsewhere, AStoreByAnotherNameIsTheSame) {
    use_store("levels");
    cluster.run({1, 2});
    std::filesystem::create_directory_symlink(path_of("levels"), path_of("link"));
    use_store("link");
    EXPECT_EQ(cluster.run({4}).start(), 2U);
    EXPECT_EQ(cluster.run({}).start(), 4U);
}

// Programs with other configurations may have called it otherwise, and not all nodes were there.
TEST_F(StoreListElsewhere, AStoreThatIsListedByTwoNamesIsOne) {
    use_store("levels");
    cluster.run({1, 2});
    std::filesystem::create_directory_symlink(path_of("levels"), path_of("link"));
    std::filesystem::remove(list_of("n1"));
    ASSERT_TRUE(write_store_list(folder_in("n1"), 1, false,
                                 {path_of("link"), path_of("levels") + "/../levels/"}))
        << message();
    cluster.config = "";
    EXPECT_EQ(cluster.run({}).start(), 2U);
    EXPECT_EQ(cluster.run({}, true).start(), 2U);
    EXPECT_FALSE(is_there("levels"));
}

// The node of one rank has no such directory, and none can be made there.
class NotEverywhere : public DyingSystem {
public:
    NotEverywhere(int rank, int error) : rank_(rank), error_(error) {}

    int open_at(int directory, const char *name, int flags, mode_t mode) override {
        return is_there(name, error_) ? DyingSystem::open_at(directory, name, flags, mode) : -1;
    }
    int make_directory_at(int directory, const char *name, mode_t mode) override {
        return is_there(name, EROFS) ? DyingSystem::make_directory_at(directory, name, mode) : -1;
    }

private:
    bool is_there(const char *name, int error) const {
        errno = error;
        return rank_of_this_thread() != rank_ ||
               std::string_view(name).find("/levels") == std::string_view::npos;
    }

    const int rank_;
    const int error_;
};

TEST_F(StoreListElsewhere, AStoreThatSomeNodesDoNotHaveBlocksNoStartThatNeedsNothingOfIt) {
    use_store("levels");
    cluster.run({1, 2, 3});
    cluster.config = "";
    const NotEverywhere other(2, ENOENT);
    EXPECT_EQ(cluster.run({}).start(), 3U);
    EXPECT_EQ(other.told(), std::vector<std::string>{});
    EXPECT_EQ(cluster.run({4}, true).start(), 3U);
    EXPECT_FALSE(is_there("n2"));
}

TEST_F(StoreListElsewhere,
       AStoreThatSomeNodesCannotOpenIsToldAndBlocksNoStartThatNeedsNothingOfIt) {
    use_store("levels");
    cluster.run({1, 2, 3});
    cluster.config = "";
    const NotEverywhere other(2, EACCES);
    EXPECT_EQ(cluster.run({}).start(), 3U);
    ASSERT_EQ(other.told().size(), 1U);
    const std::string line = other.told().front();
    EXPECT_TRUE(line.starts_with("root \"solver\": " + path_of("levels"))) << line;
    EXPECT_TRUE(line.ends_with("what an earlier program had there counts as lost")) << line;
}

// What is needed is made there.
TEST_F(StoreListElsewhere, AStoreThatANodeDoesNotHaveYetIsMadeThereForWhatIsNeededOfIt) {
    use_store("levels");
    cluster.run({1, 2});
    cluster.config = "";
    class NotYet : public DyingSystem {
    public:
        int open_at(int directory, const char *name, int flags, mode_t mode) override {
            const bool looks = rank_of_this_thread() == 2 && (flags & O_PATH) != 0;
            errno = ENOENT;
            return looks && std::string_view(name).ends_with("/levels/solver.points")
                       ? -1
                       : DyingSystem::open_at(directory, name, flags, mode);
        }
    } system_of_nodes;
    EXPECT_EQ(cluster.run({3}).start(), 2U);
    EXPECT_FALSE(is_there("levels"));
}

} // namespace
} // namespace cd::checkpoint
