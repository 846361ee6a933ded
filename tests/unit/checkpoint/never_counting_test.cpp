// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Attempts that can never count, and those that may have counted.
#include "protected.h"

#include <filesystem>
#include <fstream>
#include <utility>

namespace cd::checkpoint {
namespace {

TEST_F(Protected, AnAttemptThatDiedGoesAtTheNextStart) {
    cluster.run({1});
    const CheckpointId half{5, 2, 0, 77};
    for (const char *node : {"n1", "n3"}) {
        const CheckpointDir folder = folder_in(node);
        ASSERT_TRUE(folder.make(half)) << message();
        std::ofstream(folder.path_of(half) + "/1.image") << "half";
    }
    ASSERT_TRUE(folder_in("n2").make({6, 3, 0, 77})) << message(); // and nothing in it yet
    EXPECT_EQ(cluster.run({}).start(), 1U);
    for (const std::string &node : four_nodes) {
        EXPECT_EQ(epochs_in(node), Epochs{1});
    }
}

// As by cdctl rebuild, which had given some files their names: nobody has anything to write there.
TEST_F(Protected, DraftsOfTheDeadGoFromAPointInTimeThatIsWhole) {
    cluster.run({1});
    const auto left = epoch_in("n1", 1) / ".cd-draft.1-00000000000000cd.0";
    const auto other = epoch_in("n1", 1) / ".cd-draft";
    const auto beside = cluster.directory("n1") / "solver.points" / ".cd-draft.1-00000000000000ce";
    std::ofstream(left) << "half";
    std::ofstream(beside) << "as of the list of stores";
    std::ofstream(other) << "not ours";
    EXPECT_EQ(cluster.run({}).start(), 1U);
    EXPECT_FALSE(std::filesystem::exists(left));
    EXPECT_FALSE(std::filesystem::exists(beside));
    EXPECT_TRUE(std::filesystem::exists(other));
}

// Its node may have been told that all have it, and come back.
TEST_F(Protected, AnAttemptThatMayHaveCountedOnANodeThatIsGoneStays) {
    cluster.run({1});
    for (int rank = 0; rank < 3; ++rank) {
        const auto point = epoch_in(four_nodes[redset::index(rank)], 1);
        std::filesystem::rename(point / committed_record_name(rank),
                                point / stored_record_name(rank));
    }
    const auto away = cluster.directory("away");
    std::filesystem::rename(cluster.directory("n3"), away);
    EXPECT_EQ(cluster.run({}).start(), std::nullopt);
    cluster.lose("n3"); // its spare
    std::filesystem::rename(away, cluster.directory("n3"));
    EXPECT_EQ(cluster.run({}).start(), 1U);
}

} // namespace
} // namespace cd::checkpoint
