// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "checkpoint/checkpoint_dir.h"

#include "../replaced_system.h"
#include "cluster.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

namespace cd::checkpoint {
namespace {

namespace fs = std::filesystem;

// Another node that sees the same directory removes each name, and each directory, just before this
// one does.
class FasterNode : public ReplacedSystem {
public:
    int unlink_at(int directory, const char *name) override {
        removed += System::unlink_at(directory, name) == 0 ? 1 : 0;
        return System::unlink_at(directory, name);
    }
    int remove_directory_at(int directory, const char *name) override {
        (void)System::remove_directory_at(directory, name);
        return System::remove_directory_at(directory, name);
    }

    int removed = 0;
};

// It does so before this one has even looked into the directory.
class EvenFasterNode : public ReplacedSystem {
public:
    int open_at(int directory, const char *name, int flags, mode_t mode) override {
        if (std::string(name).find("/epoch-") != std::string::npos) {
            fs::remove_all(name);
            ++removed;
        }
        return System::open_at(directory, name, flags, mode);
    }

    int removed = 0;
};

class SharedFolder : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(CheckpointDir::open(cluster_.directory("n0").string(), "solver", false, folder))
            << message();
        for (const CheckpointId &point : {CheckpointId{1, 10, 0, 7}, CheckpointId{2, 11, 0, 7}}) {
            ASSERT_TRUE(folder.make(point)) << message();
            for (const std::string &name :
                 {image_name(0), committed_record_name(0), committed_record_name(1)}) {
                std::ofstream(folder.path_of(point) + "/" + name) << "it is there";
            }
        }
    }
    size_t points() const {
        return static_cast<size_t>(std::distance(fs::directory_iterator(folder.path()), {}));
    }

    CheckpointDir folder;

private:
    Cluster cluster_{{"n0"}};
};

TEST_F(SharedFolder, WhatAnotherNodeRemovesAtTheSameTimeIsRemoved) {
    FasterNode other;
    EXPECT_TRUE(folder.remove_before(2, keeps_none)) << message();
    EXPECT_EQ(other.removed, 3);
    EXPECT_EQ(points(), 1U);
}

TEST_F(SharedFolder, WhatAnotherNodeHasRemovedMeanwhileIsRemoved) {
    EvenFasterNode other;
    EXPECT_TRUE(folder.remove_before(3, keeps_none)) << message();
    EXPECT_EQ(other.removed, 2);
    EXPECT_EQ(points(), 0U);
}

// What stays would look like a point in time that was lost.
TEST_F(SharedFolder, ARecordThatCannotBeRemovedIsAFailure) {
    class Stubborn : public ReplacedSystem {
        int unlink_at(int directory, const char *name) override {
            errno = EACCES;
            return std::string(name).ends_with(".agreed") ? -1 : System::unlink_at(directory, name);
        }
    } system;
    EXPECT_EQ(folder.remove_before(2, keeps_none).code(), CD_ERROR_STORE_IO) << message();
    EXPECT_EQ(points(), 2U);
}

} // namespace
} // namespace cd::checkpoint
