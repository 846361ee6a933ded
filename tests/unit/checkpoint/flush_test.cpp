// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Copies in the directory of flush=.

#include "protected.h"

#include <fcntl.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string_view>
#include <thread>

namespace cd::checkpoint {
namespace {

class Flushed : public Protected {
protected:
    void SetUp() override { cluster.flush = cluster.directory("parallel").string(); }

    Epochs copied_epochs() const { return epochs_in("parallel"); }
};

TEST_F(Flushed, EpochsThatTheIntervalDividesAreThereWhenAllNodesAreLost) {
    cluster.run({1, 2, 3, 4, 5});
    lose(four_nodes);
    EXPECT_EQ(cluster.run({5}).start(), 4U);
    EXPECT_EQ(cluster.run({}).start(), 5U); // what is near is newer
}

// Else what all ranks hear would grow with nodes times ranks.
TEST_F(Flushed, WhatAllNodesSeeIsLookedAtByOneRankWhenTheRootIsCreated) {
    class Counting : public DyingSystem {
    public:
        int open_at(int directory, const char *name, int flags, mode_t mode) override {
            const std::string_view path = name;
            if (counts && path.find("/parallel/") != std::string_view::npos &&
                path.ends_with(".agreed")) {
                ++records;
            }
            return DyingSystem::open_at(directory, name, flags, mode);
        }
        std::atomic<bool> counts = false;
        std::atomic<int> records = 0;
    } counting;
    cluster.run({1, 2});
    counting.counts = true;
    EXPECT_EQ(cluster.run({}).start(), 2U);
    const int once = counting.records;
    EXPECT_GE(once, 4);
    cluster.nodes = {"n0", "n0", "n0", "n0"}; // one node
    EXPECT_EQ(cluster.run({}).start(), 2U);
    EXPECT_EQ(counting.records, 2 * once);
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
            EXPECT_EQ(self.checkpointer().wait().code(), CD_ERROR_NONE);
            EXPECT_EQ(copied_epochs(), expected);
            EXPECT_TRUE(self.checkpointer().agree_on(Status::ok())); // all have looked
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
    EXPECT_TRUE(full.told().front().ends_with("; free some")) << full.told().front();
}

// Once rank 1 knows that epoch 4 counts, which nobody reads then but who copies it.
class BitThatFlips : public DyingSystem {
public:
    int open_at(int directory, const char *name, int flags, mode_t mode) override {
        const int fd = DyingSystem::open_at(directory, name, flags, mode);
        const std::string_view path = name;
        const std::lock_guard lock(mutex_);
        if (path.find("/n1/solver.points/epoch-4") != path.npos) {
            directory_ = (flags & O_DIRECTORY) != 0 ? fd : directory_;
            image_ = counts_ && path.ends_with("/1.image") ? fd : image_;
        }
        return fd;
    }
    int rename_at(int directory, const char *from, const char *to) override {
        const std::lock_guard lock(mutex_);
        counts_ = counts_ || (directory == directory_ && to == committed_record_name(1));
        return DyingSystem::rename_at(directory, from, to);
    }
    ssize_t read_at(int fd, void *to, size_t length, off_t offset) override {
        const ssize_t read = DyingSystem::read_at(fd, to, length, offset);
        const std::lock_guard lock(mutex_);
        if (fd == image_ && read > 0) {
            flipped = true;
            static_cast<char *>(to)[read / 2] ^= 0x10;
        }
        return read;
    }
    int close(int fd) override {
        const std::lock_guard lock(mutex_);
        image_ = fd == image_ ? -1 : image_;
        return DyingSystem::close(fd);
    }
    std::atomic<bool> flipped = false;

private:
    std::mutex mutex_;
    int directory_ = -1;
    bool counts_ = false;
    int image_ = -1;
};

TEST_F(Flushed, ACopyThatIsNotWhatWasProtectedFailsAndTheOneBeforeStays) {
    const BitThatFlips flipping;
    EXPECT_EQ(cluster.run({1, 2, 3, 4}).outcome().text, "");
    EXPECT_TRUE(flipping.flipped);
    ASSERT_EQ(flipping.told().size(), 1U);
    EXPECT_TRUE(
        flipping.told().front().starts_with("epoch 4 is not in the directory of flush=: rank 1: "))
        << flipping.told().front();
    EXPECT_NE(flipping.told().front().find("epoch-4"), std::string::npos);
    EXPECT_EQ(copied_epochs(), Epochs{2});
    lose(four_nodes);
    EXPECT_EQ(cluster.run({}).start(), 2U);
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

// What was copied before its program was killed, if it is all that some disk has room for.
TEST_F(Flushed, APartOfACopyThatNobodyFinishesGoesAtTheNextStart) {
    cluster.run({1, 2});
    const CheckpointDir copies = folder_in("parallel");
    const CheckpointId point{9, 4, flush_level, 77};
    ASSERT_TRUE(copies.make(point)) << message();
    std::ofstream(copies.path_of(point) + "/0.image") << "whole";
    std::ofstream(copies.path_of(point) + "/0.stored") << "of a rank that was faster";
    std::ofstream(copies.path_of(point) + "/.cd-draft.1-00000000000000ab.0") << "half";
    EXPECT_EQ(copied_epochs(), (Epochs{2, 4}));
    EXPECT_EQ(cluster.run({}).start(), 2U);
    EXPECT_EQ(copied_epochs(), Epochs{2});
}

// As redundancy.md tells who wants to store on the nodes again.
TEST_F(Flushed, WhatWasSavedIsKeptUntilACopyCounts) {
    const std::string saved = cluster.flush;
    cluster.flush = "";
    cluster.run({1, 2, 3});
    for (const std::string &node : four_nodes) {
        std::filesystem::copy(cluster.directory(node), saved,
                              std::filesystem::copy_options::recursive |
                                  std::filesystem::copy_options::skip_existing);
    }
    lose(four_nodes);
    cluster.flush = saved;
    EXPECT_EQ(cluster.run({5}).start(), 3U);
    EXPECT_EQ(copied_epochs(), Epochs{3});
    lose(four_nodes);
    EXPECT_EQ(cluster.run({6}).start(), 3U);
    EXPECT_EQ(copied_epochs(), Epochs{6});
    lose(four_nodes);
    const auto run = cluster.run({});
    EXPECT_EQ(run.start(), 6U);
    EXPECT_EQ(run.protected_epoch(), 6U); // from the loss of any node
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

TEST_F(Flushed, WhatIsWrongWithADirectoryIsToldOfTheKeyThatNamesIt) {
    const std::string file =
        cluster.write_config("CKPT=0 STORE=" + cluster.directory("levels.conf").string() + "\n");
    const auto refused = [&] {
        const auto outcome = cluster.run({}).outcome();
        EXPECT_EQ(outcome.code, CD_ERROR_STORE_DIRECTORY);
        return outcome.text;
    };
    cluster.flush = file;
    EXPECT_TRUE(refused().ends_with("give another flush= in storage_info")) << refused();
    cluster.flush = "";
    cluster.config = file;
    EXPECT_TRUE(refused().ends_with("give another STORE in the file of config=")) << refused();
    cluster.config = "";
    cluster.nodes = {"levels.conf"};
    EXPECT_TRUE(refused().ends_with("give another dir= in storage_info")) << refused();
}

} // namespace
} // namespace cd::checkpoint
