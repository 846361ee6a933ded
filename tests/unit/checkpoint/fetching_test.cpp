// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Points in time on nodes where none of the root's ranks is come to where these are.

#include "moved.h"

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cd::checkpoint {
namespace {

TEST_F(Fetched, PointsInTimeAreFoundByTheRootsRanksAndNotWhereTheyWere) {
    cluster.run({6, 7});
    EXPECT_EQ(fetch().text, "");
    EXPECT_TRUE(moved.same.empty());
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
    EXPECT_EQ(moved.same, moved.holdings(cluster));
    EXPECT_EQ(start(), 7U);
}

TEST_F(Fetched, ADirectoryThatSeveralSeeIsTakenOnce) {
    cluster.run({7});
    std::filesystem::create_directory_symlink(cluster.directory("n3"), cluster.directory("same"));
    moved.of_others = {"n0", "n1", "n2", "n3", "same"};
    EXPECT_EQ(fetch().text, "");
    EXPECT_EQ(start(), 7U);
}

TEST_F(Fetched, WhereThereIsNoRoomNothingIsLostNorLeft) {
    cluster.run({7});
    {
        const SmallStores small(100);
        const auto told = fetch();
        EXPECT_EQ(told.code, CD_ERROR_STORE_FULL);
        EXPECT_NE(told.text.find("for which there is no room here"), std::string::npos)
            << told.text;
    }
    for (size_t i = 0; i < four_nodes.size(); ++i) {
        EXPECT_TRUE(is_left(four_nodes[i])) << four_nodes[i];
        EXPECT_FALSE(is_left(four_others[i])) << four_others[i];
    }
    EXPECT_EQ(fetch().text, "");
    EXPECT_EQ(start(), 7U);
}

// Also where only a node tells of that on which none of the root's ranks is.
TEST_F(Fetched, WhatACommitHasForgottenIsForgotten) {
    cluster.run({7});
    const auto point = point_of(epoch_in("n0", 7).filename().string());
    ASSERT_TRUE(folder_in("n2").write_commit_marker({point->number, {point->session}}, 2));
    moved.nodes = {"n0", "n1", "m2", "n3"};
    moved.of_others = {"n2"};
    EXPECT_EQ(fetch().text, "");
    EXPECT_FALSE(is_left("n2"));
    EXPECT_EQ(start(), std::nullopt);
}

TEST_F(Fetched, TombstonesOfOneNumberBecomeOne) {
    cluster.run({7});
    const auto point = point_of(epoch_in("n0", 7).filename().string());
    ASSERT_TRUE(folder_in("n0").write_commit_marker({point->number, {point->session}}, 0));
    ASSERT_TRUE(folder_in("n2").write_commit_marker({point->number, {77}}, 2));
    moved.nodes = {"n0", "n1", "m2", "n3"};
    moved.of_others = {"n2"};
    EXPECT_EQ(fetch().text, "");
    EXPECT_EQ(start(), std::nullopt);
}

// Whoever starts afresh goes on, and later numbers are later all the same.
TEST_F(Fetched, WhatIsGivenUpNeedsNoRoom) {
    cluster.run({6, 7});
    {
        const SmallStores small(490); // for records, and no images
        moved.afresh = true;
        EXPECT_EQ(fetch().text, "");
        EXPECT_EQ(small.told().size(), 4U);
    }
    EXPECT_EQ(epochs_in("n0"), Epochs{7});
    cluster.nodes = moved.nodes;
    cluster.restart = "no";
    EXPECT_EQ(cluster.run({1}).start(), std::nullopt);
    cluster.restart = "";
    moved.afresh = false;
    EXPECT_EQ(fetch().text, "");
    EXPECT_FALSE(is_left("n0"));
    EXPECT_EQ(start(), 1U);
}

TEST_F(Fetched, WhatCountsNoMoreGoesWithoutBeingMoved) {
    cluster.run({7});
    for (const std::string &node : four_nodes) {
        std::filesystem::copy(cluster.directory(node), cluster.directory("m" + node.substr(1)),
                              std::filesystem::copy_options::recursive);
    }
    cluster.nodes = four_others;
    cluster.run({8});
    const SmallStores small(0);
    EXPECT_EQ(fetch().text, "");
    for (const std::string &node : four_nodes) {
        EXPECT_FALSE(is_left(node)) << node;
    }
    EXPECT_EQ(start(), 8U);
}

// What a rank cannot open or read for a moment.
class FailingFiles : public DyingSystem {
public:
    FailingFiles(std::string ending, int rank, int error)
        : ending_(std::move(ending)), rank_(rank), error_(error) {}

    bool when_read = false;

    int open_at(int directory, const char *name, int flags, mode_t mode) override {
        if (!when_read && concerns(name)) {
            errno = error_;
            return -1;
        }
        const int fd = DyingSystem::open_at(directory, name, flags, mode);
        if (concerns(name) && fd >= 0) {
            failing_ = fd;
        }
        return fd;
    }
    ssize_t read_at(int fd, void *to, size_t length, off_t offset) override {
        if (when_read && rank_of_this_thread() == rank_ && fd == failing_) {
            errno = error_;
            return -1;
        }
        return DyingSystem::read_at(fd, to, length, offset);
    }

private:
    bool concerns(const char *name) {
        return rank_of_this_thread() == rank_ && std::string_view(name).ends_with(ending_);
    }

    const std::string ending_;
    const int rank_;
    const int error_;
    std::atomic<int> failing_ = -1;
};

TEST_F(Fetched, WhatCannotBeReadOrOpenedStaysAndIsBroughtByTheNext) {
    for (const bool when_read : {true, false}) {
        for (const char *ending : {".image", ".redset", ".agreed"}) {
            if (when_read && std::string_view(ending) == ".agreed") {
                continue; // it is read before
            }
            SCOPED_TRACE(ending + std::string(when_read ? ", read" : ", opened"));
            for (const char *node : {"n2", "m2"}) {
                cluster.lose(node);
            }
            moved.nodes = {"n0", "n1", "m2", "n3"};
            moved.of_others = {"n2"};
            cluster.nodes = four_nodes;
            cluster.restart = "no";
            cluster.run({7});
            cluster.restart = "";
            const auto content = files_in("n2");
            {
                FailingFiles failing(ending, 10, when_read ? EIO : EMFILE);
                failing.when_read = when_read;
                EXPECT_EQ(fetch().text, "");
            }
            EXPECT_TRUE(is_left("n2"));
            EXPECT_TRUE(is_seen_in("n2"));
            EXPECT_EQ(fetch().text, "");
            EXPECT_FALSE(is_left("n2"));
            EXPECT_EQ(files_in("m2"), content);
            EXPECT_EQ(start(), 7U);
        }
    }
}

// As another job does that has found nothing in it.
TEST_F(Fetched, WhatSomebodyRemovesAtThatMomentIsNotMadeAgain) {
    class Removing : public DyingSystem {
    public:
        int open_at(int directory, const char *name, int flags, mode_t mode) override {
            const std::filesystem::path path(name);
            if (rank_of_this_thread() == 12 && path.filename().string().starts_with("in-use-")) {
                std::filesystem::remove_all(path.parent_path());
            }
            return DyingSystem::open_at(directory, name, flags, mode);
        }
    };
    cluster.run({7});
    {
        const Removing removing;
        EXPECT_EQ(fetch().text, "");
    }
    EXPECT_FALSE(is_left("n2"));
    EXPECT_EQ(start(), 7U);
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
        if (failing < 10) { // what is held stays where it is
            EXPECT_GT(failures, 5);
        }
    }
}

} // namespace
} // namespace cd::checkpoint
