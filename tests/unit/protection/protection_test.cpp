// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "each_fault.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <latch>
#include <map>
#include <string_view>
#include <thread>

namespace cd::protection {
namespace {

using Epochs = std::vector<uint64_t>;
const std::vector<std::string> four_nodes{"n0", "n1", "n2", "n3"};

class Protected : public testing::Test {
protected:
    // The ranks' calls come here, so that nothing waits for the disk.
    DyingSystem system;
    Cluster cluster{four_nodes};

    void lose(const std::vector<std::string> &lost) {
        for (const std::string &node : lost) {
            cluster.lose(node);
        }
    }

    std::vector<std::filesystem::path> files_of_ranks() const {
        std::vector<std::filesystem::path> files;
        for (const auto &each :
             std::filesystem::recursive_directory_iterator(cluster.directory(""))) {
            if (rank_of(each.path().filename().string())) {
                files.push_back(each.path());
            }
        }
        std::ranges::sort(files);
        return files;
    }
};

// Files that come from elsewhere find so much room.
class SmallStores : public DyingSystem {
public:
    explicit SmallStores(uint64_t left) : left_(left) {}

    int room(int, uint64_t &bytes) override {
        bytes = left_;
        return 0;
    }

private:
    const uint64_t left_;
};

TEST_F(Protected, NothingIsThereAtFirst) { EXPECT_EQ(cluster.run({}).start(), std::nullopt); }

TEST_F(Protected, AllRanksStartFromTheNewestPointInTime) {
    EXPECT_EQ(cluster.run({1, 2, 3}).start(), std::nullopt);
    EXPECT_EQ(cluster.run({4}).start(), 3U);
    EXPECT_EQ(cluster.run({}).start(), 4U);
}

TEST_F(Protected, OneEpochIsKeptAndNoMore) {
    cluster.run({1, 2, 3});
    for (const std::string &node : cluster.nodes) {
        const auto points = cluster.directory(node) / "solver.points";
        EXPECT_EQ(std::distance(std::filesystem::directory_iterator(points), {}), 1);
    }
}

TEST_F(Protected, AnyOneNodeMayBeLostWithXor) {
    for (const std::string &node : four_nodes) {
        cluster.run({7});
        cluster.lose(node);
        EXPECT_EQ(cluster.run({}).start(), 7U) << node;
        EXPECT_EQ(cluster.run({}).start(), 7U) << node; // as before
    }
}

TEST_F(Protected, AnyTwoNodesMayBeLostWithTwoChecksums) {
    cluster.redundancy = {Scheme::reed_solomon, 2};
    for (const auto &lost : {std::vector<std::string>{"n0", "n1"}, {"n1", "n3"}}) {
        cluster.run({7});
        lose(lost);
        EXPECT_EQ(cluster.run({}).start(), 7U);
    }
}

TEST_F(Protected, NeighboursMayBeLostWithTwoPartners) {
    cluster.redundancy = {Scheme::partner, 2};
    cluster.run({7});
    lose({"n2", "n3"});
    EXPECT_EQ(cluster.run({}).start(), 7U);
}

TEST_F(Protected, WithOneMoreLostAllRanksSayWhichAndNothingIsDeleted) {
    cluster.run({7});
    lose({"n1", "n2"});
    for (int attempt = 0; attempt < 2; ++attempt) {
        const auto outcome = cluster.run({}).outcome();
        EXPECT_EQ(outcome.code, CD_ERROR_REDUNDANCY_EXCEEDED);
        EXPECT_NE(outcome.text.find("epoch 7: set 1 of 1"), std::string::npos) << outcome.text;
        EXPECT_NE(outcome.text.find("ranks 1, 2 are lost"), std::string::npos) << outcome.text;
    }
    cluster.redundancy = {Scheme::reed_solomon, 2};
    EXPECT_EQ(cluster.run({}).outcome().code, CD_ERROR_REDUNDANCY_EXCEEDED);
}

TEST_F(Protected, WithOneMoreLostNothingIsMovedToRanksThatAreElsewhere) {
    cluster.run({7});
    const auto check = [&] {
        const auto before = files_of_ranks();
        const auto outcome = cluster.run({}).outcome();
        EXPECT_EQ(outcome.code, CD_ERROR_REDUNDANCY_EXCEEDED);
        EXPECT_TRUE(outcome.text.starts_with("epoch 7: set 1 of 1 (XOR, ")) << outcome.text;
        EXPECT_NE(outcome.text.find("ranks 1, 2 are lost"), std::string::npos) << outcome.text;
        EXPECT_EQ(files_of_ranks(), before);
    };
    cluster.lose("n1");
    for (const auto &file : files_of_ranks()) {
        if (file.filename() == "2.image") {
            std::filesystem::resize_file(file, 10);
        }
    }
    cluster.nodes = {"n3", "spare", "n2", "n0"};
    check();
    cluster.lose("n2");
    cluster.nodes = {"n3", "spare", "other", "n0"};
    check();
}

TEST_F(Protected, AllSetsWithTooMuchLostAreNamed) {
    cluster.set_size = 2;
    cluster.run({7});
    lose({"n0", "n1"});
    const auto outcome = cluster.run({}).outcome();
    EXPECT_EQ(outcome.code, CD_ERROR_REDUNDANCY_EXCEEDED);
    EXPECT_NE(outcome.text.find("1 of 2 sets are lost"), std::string::npos) << outcome.text;
    EXPECT_NE(outcome.text.find("set 1, which had ranks"), std::string::npos) << outcome.text;
    EXPECT_NE(outcome.text.find("ranks 0, 1"), std::string::npos) << outcome.text;
}

TEST_F(Protected, AllNodesLostIsAFreshStart) {
    cluster.run({7});
    lose(four_nodes);
    EXPECT_EQ(cluster.run({}).start(), std::nullopt);
}

TEST_F(Protected, FilesFollowTheirRanksToOtherNodes) {
    cluster.run({7});
    std::ranges::reverse(cluster.nodes);
    EXPECT_EQ(cluster.run({}).start(), 7U);
    cluster.nodes = {"n1", "n2", "n3", "n0"};
    EXPECT_EQ(cluster.run({8}).start(), 7U);
    for (const std::string &node : cluster.nodes) { // what lay elsewhere went with the old epoch
        const auto points = cluster.directory(node) / "solver.points";
        EXPECT_EQ(std::distance(std::filesystem::directory_iterator(points), {}), 1);
    }
}

TEST_F(Protected, MovedAndRebuiltImagesHaveTheModeAndTheTimeOfBefore) {
    struct Seen {
        mode_t mode = 0;
        timespec modified = {};
    };
    const auto look = [&] {
        std::map<std::string, Seen> images;
        for (size_t rank = 0; rank < cluster.nodes.size(); ++rank) {
            const std::string name = image_name(static_cast<int>(rank));
            for (const auto &each : std::filesystem::recursive_directory_iterator(
                     cluster.directory(cluster.nodes[rank]))) {
                struct stat status = {};
                if (each.path().filename() == name && ::stat(each.path().c_str(), &status) == 0) {
                    images[name] = {status.st_mode, status.st_mtim};
                }
            }
        }
        return images;
    };
    cluster.run({7});
    const auto before = look();
    ASSERT_EQ(before.size(), 4U);
    cluster.lose("n2");
    cluster.nodes = {"n1", "n0", "spare", "n3"}; // two are moved, one is rebuilt
    EXPECT_EQ(cluster.run({}).start(), 7U);
    for (const auto &[name, seen] : look()) {
        EXPECT_EQ(seen.mode, before.at(name).mode) << name;
        EXPECT_EQ(seen.modified.tv_sec, before.at(name).modified.tv_sec) << name;
        EXPECT_EQ(seen.modified.tv_nsec, before.at(name).modified.tv_nsec) << name;
    }
    EXPECT_EQ(look().size(), 4U);
}

// More of them are cut short than xor covers.
TEST_F(Protected, FilesThatAreCutAtTheirRanksAreTakenFromWhereTheyWereBefore) {
    cluster.run({7});
    std::ranges::reverse(cluster.nodes);
    EXPECT_EQ(cluster.run({}).start(), 7U);
    int cut = 0;
    for (int rank = 0; rank < 4; ++rank) {
        const auto &node = cluster.nodes[static_cast<size_t>(rank)];
        for (const auto &each :
             std::filesystem::recursive_directory_iterator(cluster.directory(node))) {
            const std::string name = each.path().filename();
            const bool is_own = name.starts_with(std::to_string(rank) + ".");
            if (is_own && !name.ends_with(".agreed") && each.is_regular_file()) {
                std::filesystem::resize_file(each.path(), each.file_size() / 2);
                ++cut;
            }
        }
    }
    EXPECT_EQ(cut, 16);
    EXPECT_EQ(cluster.run({}).start(), 7U);
}

// Of a file of which no record tells the size, as one that was damaged; nothing is copied.
TEST_F(Protected, AFileForWhichThereIsNoRoomIsEverybodysFailureAtOnce) {
    cluster.run({1});
    const auto folder =
        std::filesystem::directory_iterator(cluster.directory("n1") / "solver.points")->path();
    std::filesystem::remove(folder / "1.agreed");
    std::filesystem::resize_file(folder / "1.image", uint64_t{1} << 30);
    const TimeLimit limit(30);
    cluster.nodes = {"n1", "n0", "n2", "n3"};
    const SmallStores small(1'000'000);
    const auto outcome = cluster.run({}).outcome();
    EXPECT_EQ(outcome.code, CD_ERROR_STORE_FULL);
    EXPECT_NE(outcome.text.find("1073741824 bytes"), std::string::npos) << outcome.text;
    EXPECT_EQ(outcome.text.find("rank 1: "), 0U) << outcome.text;
}

TEST_F(Protected, AfterALossFilesFollowTheirRanksToo) {
    cluster.run({7});
    cluster.lose("n2");
    cluster.nodes = {"spare", "n0", "n1", "n3"};
    EXPECT_EQ(cluster.run({}).start(), 7U);
}

TEST_F(Protected, RanksOfOneNodeShareItsDirectory) {
    cluster.nodes = {"n0", "n0", "n1", "n1"};
    cluster.run({7});
    cluster.lose("n0");
    EXPECT_EQ(cluster.run({8}).start(), 7U);
    EXPECT_EQ(cluster.run({}).start(), 8U);
}

// Files, sets and errors have the numbers that ranks have in the program.
TEST_F(Protected, ARootOfSomeOfTheRanksOfAProgramSurvivesAsWell) {
    cluster.ranks = {1, 4, 5, 9};
    cluster.run({7});
    cluster.lose("n1");
    cluster.nodes = {"n2", "spare", "n0", "n3"}; // files move, too
    EXPECT_EQ(cluster.run({8}).start(), 7U);
    const auto points = cluster.directory("n3") / "solver.points";
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::directory_iterator(points)->path() /
                                        "9.xor.grp_1_of_1.mem_4_of_4.redset"));
    cluster.ranks = {1, 4, 5, 8};
    EXPECT_EQ(cluster.run({}).outcome().code, CD_ERROR_RESTART_MISMATCH);
    cluster.ranks = {1, 4, 5, 9};
    EXPECT_EQ(cluster.run({}).start(), 8U);
    lose({"n2", "n3"});
    const auto outcome = cluster.run({}).outcome();
    EXPECT_EQ(outcome.code, CD_ERROR_REDUNDANCY_EXCEEDED);
    EXPECT_NE(outcome.text.find("ranks 1, 9 are lost"), std::string::npos) << outcome.text;
}

TEST_F(Protected, AProgramOfOtherSettingsFindsWhatWasProtectedByOthers) {
    cluster.run({7});
    cluster.lose("n0");
    cluster.redundancy = {Scheme::partner, 1};
    cluster.set_size = 2;
    EXPECT_EQ(cluster.run({}).start(), 7U);
}

TEST_F(Protected, AChoiceOfEpochIsHeard) {
    cluster.run({7});
    cluster.restart = "8";
    const auto outcome = cluster.run({}).outcome();
    EXPECT_EQ(outcome.code, CD_ERROR_ARGUMENT);
    EXPECT_NE(outcome.text.find("epoch 8, and what is protected is 7"), std::string::npos)
        << outcome.text;
    cluster.restart = "7";
    EXPECT_EQ(cluster.run({}).start(), 7U);
    cluster.restart = "no";
    EXPECT_EQ(cluster.run({1}).start(), std::nullopt);
    cluster.restart = "";
    EXPECT_EQ(cluster.run({}).start(), 1U);
}

TEST_F(Protected, AChoiceOfEpochWhereNothingIsProtectedIsToldOnce) {
    cluster.restart = "0";
    EXPECT_EQ(cluster.run({}).start(), std::nullopt);
    EXPECT_TRUE(system.told().empty());
    cluster.restart = "4";
    EXPECT_EQ(cluster.run({}).start(), std::nullopt);
    EXPECT_EQ(system.told(),
              std::vector<std::string>{"root \"solver\": CD_RESTART asks for epoch 4, but nothing "
                                       "is protected; starting afresh"});
}

TEST_F(Protected, WhatIsForgottenIsGone) {
    cluster.run({7});
    EXPECT_EQ(cluster.run({8}, true).start(), 7U);
    EXPECT_EQ(cluster.run({}).start(), std::nullopt);
    cluster.run({1});
    EXPECT_EQ(cluster.run({}).start(), 1U);
}

TEST_F(Protected, AHelperThreadProtectsAsWell) {
    cluster.mode = Mode::async;
    EXPECT_EQ(cluster.run({1, 2, 3}).start(), std::nullopt);
    cluster.lose("n3");
    EXPECT_EQ(cluster.run({4}, true).start(), 3U);
    EXPECT_EQ(cluster.run({}).start(), std::nullopt);
}

// A point in time whose image can be written when the program says so.
struct Gated {
    explicit Gated(const cd_offered_point &offered) : inner(offered) {}

    cd_offered_point offer() {
        return {inner.epoch, this,
                [](void *self, const char *path, cd_protection_message *why) {
                    const auto *gated = static_cast<Gated *>(self);
                    gated->open.wait();
                    return gated->inner.write_image(gated->inner.context, path, why);
                },
                [](void *self) {
                    const auto *gated = static_cast<Gated *>(self);
                    gated->inner.release(gated->inner.context);
                }};
    }

    const cd_offered_point inner;
    std::latch open{1};
};

TEST_F(Protected, AHelperThreadWritesTheImageWhileTheProgramGoesOn) {
    const TimeLimit limit(60);
    cluster.mode = Mode::async;
    const auto run = cluster.run_steps([](Cluster::Rank &self) {
        Gated gated(self.offer(1));
        EXPECT_TRUE(self.protection().protect(gated.offer()));
        EXPECT_EQ(self.protection().protected_epoch(), 0U);
        gated.open.count_down();
        Status outcome = self.protection().wait();
        EXPECT_EQ(self.protection().protected_epoch(), 1U);
        return outcome;
    });
    EXPECT_EQ(run.outcome().text, "");
}

// Tells when its image is written.
struct Noted {
    cd_offered_point offer() {
        return {inner.epoch, this,
                [](void *self, const char *path, cd_protection_message *why) {
                    auto *noted = static_cast<Noted *>(self);
                    ++noted->written;
                    return noted->inner.write_image(noted->inner.context, path, why);
                },
                [](void *self) {
                    const auto *noted = static_cast<Noted *>(self);
                    noted->inner.release(noted->inner.context);
                }};
    }

    const cd_offered_point inner;
    std::atomic<int> &written; // by all ranks
};

// It would take processors from ranks whose local write is under way.
TEST_F(Protected, AHelperThreadDoesNothingBeforeAllRanksHaveAdvanced) {
    const TimeLimit limit(60);
    cluster.mode = Mode::async;
    std::atomic<int> written = 0;
    std::latch others{3};
    const auto run = cluster.run_steps([&](Cluster::Rank &self) {
        Noted noted{self.offer(1), written};
        if (self.number() == 3) {
            others.wait();
            std::this_thread::sleep_for(std::chrono::milliseconds(100)); // would be time enough
            EXPECT_EQ(written, 0);
        }
        EXPECT_TRUE(self.protection().protect(noted.offer()));
        if (self.number() != 3) {
            others.count_down();
        }
        return self.protection().wait();
    });
    EXPECT_EQ(run.outcome().text, "");
    EXPECT_EQ(written, 4);
}

// ---- Levels

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
                std::filesystem::resize_file(each.path() / agreed_name(rank), 10);
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

TEST_F(Leveled, WithoutTheConfigurationItsPointsInTimeAreFound) {
    cluster.run({1, 2, 3});
    cluster.lose("n1");
    cluster.config = "";
    EXPECT_EQ(cluster.run({}).start(), 3U);
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

TEST_F(Leveled, ADirectoryThatTwoWouldUseIsRefusedByWhicheverNames) {
    const auto refused = [&](const std::string &one, const std::string &other) {
        for (const auto &outcome : cluster.run({}).outcomes) {
            EXPECT_EQ(outcome.code, CD_ERROR_STORAGE_VALUE);
            EXPECT_NE(outcome.text.find(one + "/solver.points and " + other +
                                        "/solver.points are one directory"),
                      std::string::npos)
                << outcome.text;
        }
    };
    const auto with_store = [&](const std::string &store) {
        cluster.config = cluster.write_config("CKPT=0 TYPE=XOR STORE=" + store + "\n");
    };
    const std::string shared = cluster.directory("shared").string();
    const std::string by_another_name = cluster.directory("link").string();
    std::filesystem::create_directories(shared);
    std::filesystem::create_directory_symlink(shared, by_another_name);
    cluster.nodes = {"shared"};
    with_store(shared);
    refused(shared, shared);
    with_store(by_another_name);
    refused(shared, by_another_name);
    cluster.flush = by_another_name;
    cluster.config = "";
    refused(shared, by_another_name);
    cluster.nodes = {"n0"};
    with_store(shared);
    refused(by_another_name, shared);
    cluster.flush = "";
    EXPECT_EQ(cluster.run({1}).start(), std::nullopt);
    EXPECT_EQ(cluster.run({}).start(), 1U);
}

TEST_F(Leveled, ANodeWithoutAGroupIsNamed) {
    cluster.nodes = {"n0", "n1", "n2", "other"};
    cluster.config = cluster.write_config(levels);
    const auto run = cluster.run({});
    EXPECT_EQ(run.outcomes.back().code, CD_ERROR_STORAGE_VALUE);
    EXPECT_NE(run.outcomes.back().text.find("GROUPS=other SWITCH="), std::string::npos)
        << run.outcomes.back().text;
}

// ---- Copies

class Flushed : public Protected {
protected:
    void SetUp() override { cluster.flush = cluster.directory("parallel").string(); }

    Epochs copied_epochs() const {
        Epochs epochs;
        for (const auto &each :
             std::filesystem::directory_iterator(cluster.directory("parallel") / "solver.points")) {
            if (const auto point = point_of(each.path().filename().string())) {
                epochs.push_back(point->epoch);
            }
        }
        std::ranges::sort(epochs);
        return epochs;
    }
};

TEST_F(Flushed, EpochsThatTheIntervalDividesAreThereWhenAllNodesAreLost) {
    cluster.run({1, 2, 3, 4, 5});
    lose(four_nodes);
    EXPECT_EQ(cluster.run({5}).start(), 4U);
    EXPECT_EQ(cluster.run({}).start(), 5U); // what is near is newer
}

TEST_F(Flushed, ACopyThatFailsIsToldOnceAndTheNextOneIsTried) {
    const auto parallel = cluster.directory("parallel");
    const auto aside = cluster.directory("aside");
    const auto run = cluster.run_steps([&](Cluster::Rank &self) {
        if (self.number() == 1) {
            std::filesystem::rename(parallel, aside);
            std::ofstream(parallel) << "no directory";
        }
        EXPECT_TRUE(self.protect(1) && self.protect(2) && self.protection().wait()) << message();
        if (self.number() == 1) {
            std::filesystem::remove(parallel);
            std::filesystem::rename(aside, parallel);
        }
        EXPECT_TRUE(self.protect(3) && self.protect(4)) << message();
        return self.protection().wait();
    });
    EXPECT_EQ(run.outcome().text, "");
    ASSERT_EQ(system.told().size(), 1U);
    EXPECT_TRUE(system.told().front().starts_with(
        "epoch 2 is not in the directory of flush=: ranks 0, 1, 2, 3: "))
        << system.told().front();
    lose(four_nodes);
    EXPECT_EQ(cluster.run({}).start(), 4U);
}

// There is no room for what rank 1 has of epoch 4; what is removed takes a while.
class RoomForOthers : public DyingSystem {
public:
    int open_at(int directory, const char *name, int flags, mode_t mode) override {
        const std::string_view path = name;
        const bool refused = (flags & O_CREAT) != 0 && path.find("/.cd-draft.1-") != path.npos &&
                             path.find("parallel/solver.points/epoch-4") != path.npos;
        errno = ENOSPC;
        return refused ? -1 : DyingSystem::open_at(directory, name, flags, mode);
    }
    int remove_directory_at(int directory, const char *name) override {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return DyingSystem::remove_directory_at(directory, name);
    }
};

TEST_F(Flushed, OfACopyThatFailsNothingIsLeftInTheWayOfTheNextOne) {
    const RoomForOthers full;
    cluster.nodes = {"n0", "n0", "n1", "n1"}; // of each, one removes, and the other one waits
    const auto run = cluster.run_steps([&](Cluster::Rank &self) {
        const auto copies_are = [&](const Epochs &expected) {
            EXPECT_EQ(self.protection().wait().code(), CD_ERROR_NONE);
            EXPECT_EQ(copied_epochs(), expected);
            EXPECT_TRUE(self.protection().agree_on(Status::ok())); // all have looked
        };
        EXPECT_TRUE(self.protect(1) && self.protect(2)) << message();
        copies_are({2});
        EXPECT_TRUE(self.protect(3) && self.protect(4)) << message();
        copies_are({2});
        EXPECT_TRUE(self.protect(5) && self.protect(6)) << message();
        copies_are({6});
        return Status::ok();
    });
    EXPECT_EQ(run.outcome().text, "");
    ASSERT_EQ(full.told().size(), 1U);
    EXPECT_TRUE(
        full.told().front().starts_with("epoch 4 is not in the directory of flush=: rank 1: "))
        << full.told().front();
}

TEST_F(Flushed, ACopyIsTakenWhereTooMuchIsLostAlsoIfTheRestHadNoRoomWhereRanksAreNow) {
    cluster.run({1, 2, 3});
    lose({"n0", "n1"});
    cluster.nodes = {"n0", "n1", "n3", "n2"};
    const SmallStores small(0);
    EXPECT_EQ(cluster.run({}).start(), 2U);
    EXPECT_EQ(small.told().size(), 1U);
}

TEST_F(Flushed, CopiesOfWhatAStartLeftBehindDoNotComeBack) {
    cluster.run({1, 2, 3, 4});
    cluster.restart = "no";
    cluster.run({1});
    cluster.restart = "";
    EXPECT_EQ(cluster.run({}).start(), 1U);
    lose(four_nodes);
    EXPECT_EQ(cluster.run({}).start(), std::nullopt);
}

TEST_F(Flushed, OneCopyIsKeptAndGoesWithTheRest) {
    cluster.mode = Mode::async;
    cluster.run({1, 2, 3, 4});
    const auto points = cluster.directory("parallel") / "solver.points";
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(points), {}), 1);
    cluster.run({5, 6}, true);
    EXPECT_FALSE(std::filesystem::exists(points));
    EXPECT_EQ(cluster.run({}).start(), std::nullopt);
}

// ---- Stores that a later program does not name

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
