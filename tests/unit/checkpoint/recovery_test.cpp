// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What all ranks start from after losses, and wherever they are.

#include "protected.h"

#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <latch>
#include <map>
#include <string_view>

namespace cd::checkpoint {
namespace {

TEST_F(Protected, AllRanksStartFromTheNewestPointInTime) {
    EXPECT_EQ(cluster.run({1, 2, 3}).start(), std::nullopt);
    EXPECT_EQ(cluster.run({4}).start(), 3U);
    EXPECT_EQ(cluster.run({}).start(), 4U);
}

TEST_F(Protected, AnyOneNodeMayBeLostWithXor) {
    for (const std::string &node : four_nodes) {
        cluster.run({7});
        cluster.lose(node);
        EXPECT_EQ(cluster.run({}).start(), 7U) << node;
        EXPECT_EQ(cluster.run({}).start(), 7U) << node; // as before
    }
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

TEST_F(Protected, WithOneMoreLostTheErrorSaysWhatHelps) {
    cluster.run({7});
    lose({"n1", "n2"});
    const std::string text = cluster.run({}).outcome().text;
    EXPECT_TRUE(text.ends_with("; bring back the nodes that had these files, try another epoch, or "
                               "start afresh with CD_RESTART=no"))
        << text;
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

// Rank 1 runs where rank 0 ran, and cannot read its image.
class UnreadableImage : public DyingSystem {
public:
    int open_at(int directory, const char *name, int flags, mode_t mode) override {
        const int fd = DyingSystem::open_at(directory, name, flags, mode);
        if (rank_of_this_thread() == 1 && fd >= 0 && std::string_view(name).ends_with("/0.image")) {
            image_ = fd;
        }
        return fd;
    }
    int close(int fd) override {
        if (fd == image_) {
            image_ = -1; // the number may be another file's next
        }
        return DyingSystem::close(fd);
    }
    ssize_t read_at(int fd, void *to, size_t length, off_t offset) override {
        if (fd == image_) {
            ++failures;
            errno = EIO;
            return -1;
        }
        return DyingSystem::read_at(fd, to, length, offset);
    }
    std::atomic<int> failures = 0;

private:
    std::atomic<int> image_ = -1;
};

// Without checksum files nothing else shows that the copy is incomplete.
TEST_F(Protected, AMovedFileThatItsNodeCannotReadIsRebuilt) {
    cluster.run({7});
    for (const std::string &node : four_nodes) {
        for (int rank = 0; rank < 4; ++rank) {
            std::filesystem::remove(epoch_in(node, 7) / (std::to_string(rank) + ".cdsums"));
        }
    }
    cluster.nodes = {"n1", "n0", "n2", "n3"};
    const UnreadableImage unreadable;
    EXPECT_EQ(cluster.run({}).start(), 7U); // which compares each image with that of before
    EXPECT_GT(unreadable.failures, 0);
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
    EXPECT_TRUE(std::filesystem::exists(epoch_in("n3", 8) / "9.xor.grp_1_of_1.mem_4_of_4.redset"));
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

// A commit of another job with a root of that name was killed on a node that was not of this one.
TEST_F(Protected, ACommitMarkerOfAnotherJobIsNotForThisOnesPointsInTime) {
    cluster.run({1, 2, 3});
    ASSERT_TRUE(folder_in("n2").write_commit_marker({9, {1, 2, 3}}, 0)) << message();
    EXPECT_EQ(cluster.run({4}).start(), 3U);
    EXPECT_EQ(cluster.run({}, true).start(), 4U);
    EXPECT_EQ(cluster.run({}).start(), std::nullopt);
    EXPECT_FALSE(std::filesystem::exists(cluster.directory("n2") / "solver.points"));
}

TEST_F(Protected, ACommitMarkerThatCannotBeReadIsNamed) {
    cluster.run({1});
    const auto path = cluster.directory("n2") / "solver.points" / commit_marker_name(9);
    std::ofstream(path) << "by an earlier version";
    const auto outcome = cluster.run({}).outcome();
    EXPECT_EQ(outcome.code, CD_ERROR_STORE_DAMAGED);
    EXPECT_NE(outcome.text.find(path.string()), std::string::npos) << outcome.text;
    EXPECT_NE(outcome.text.find("remove the file"), std::string::npos) << outcome.text;
    std::filesystem::remove(path);
    EXPECT_EQ(cluster.run({}).start(), 1U);
}

// ---- Where nothing is protected

TEST_F(Protected, WhereNothingWasProtectedNoDirectoryIsLeft) {
    cluster.run_steps([](Cluster::Rank &self) {
        return self.checkpointer().agree_on(self.number() == 2 ? fail(CD_ERROR_STORE_FULL, "full")
                                                               : Status::ok());
    });
    for (const std::string &node : four_nodes) {
        EXPECT_FALSE(std::filesystem::exists(cluster.directory(node) / "solver.points"));
    }
}

// ---- redundancy_mode=async

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
        EXPECT_TRUE(self.checkpointer().protect(gated.offer()));
        EXPECT_EQ(self.checkpointer().protected_epoch(), 0U);
        gated.open.count_down();
        Status outcome = self.checkpointer().wait();
        EXPECT_EQ(self.checkpointer().protected_epoch(), 1U);
        return outcome;
    });
    EXPECT_EQ(run.outcome().text, "");
}

} // namespace
} // namespace cd::checkpoint
