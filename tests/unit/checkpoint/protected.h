// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/checkpoint_dir.h"
#include "each_fault.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace cd::checkpoint {

using Epochs = std::vector<uint64_t>;
inline const std::vector<std::string> four_nodes{"n0", "n1", "n2", "n3"};

// A root of four ranks, each on a node of its own.
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

    // Epochs of which there is anything, whether it counts or not.
    Epochs epochs_in(const std::string &directory) const {
        Epochs epochs;
        for (const auto &each :
             std::filesystem::directory_iterator(cluster.directory(directory) / "solver.points")) {
            if (const auto point = id_of_directory(each.path().filename().string())) {
                epochs.push_back(point->epoch);
            }
        }
        std::ranges::sort(epochs);
        return epochs;
    }

    // The directory that has it.
    std::filesystem::path epoch_in(const std::string &directory, uint64_t epoch) const {
        for (const auto &each :
             std::filesystem::directory_iterator(cluster.directory(directory) / "solver.points")) {
            const auto point = id_of_directory(each.path().filename().string());
            if (point && point->epoch == epoch) {
                return each.path();
            }
        }
        ADD_FAILURE() << directory << " has nothing of epoch " << epoch;
        return {};
    }

    // The directory of one root's points in time, as the library has it.
    CheckpointDir folder_in(const std::string &directory) const {
        CheckpointDir folder;
        EXPECT_TRUE(
            CheckpointDir::open(cluster.directory(directory).string(), "solver", false, folder))
            << message();
        return folder;
    }

    std::vector<std::filesystem::path> files_of_ranks() const {
        std::vector<std::filesystem::path> files;
        for (const auto &each :
             std::filesystem::recursive_directory_iterator(cluster.directory(""))) {
            if (rank_of_file(each.path().filename().string())) {
                files.push_back(each.path());
            }
        }
        std::ranges::sort(files);
        return files;
    }
};

} // namespace cd::checkpoint
