// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// What killed programs and users left: unfinished checkpoints, drafts, links, directories.
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

// ---- A link or a directory has the name of a file of ours

class InTheWay : public Protected {
protected:
    void SetUp() override { cluster.run({1, 2}); }

    // What has the name leads to what had it.
    void replace_by_link(const std::filesystem::path &path) const {
        const std::filesystem::path elsewhere = cluster.directory("n0").parent_path() / "elsewhere";
        std::filesystem::rename(path, elsewhere);
        std::filesystem::create_symlink(elsewhere, path);
    }
    static void replace_by_directory(const std::filesystem::path &path) {
        std::filesystem::remove(path);
        std::filesystem::create_directory(path);
    }
    // All start from epoch 2, and rank 1 has the file again.
    void expect_rebuilt(const std::filesystem::path &path) const {
        EXPECT_EQ(cluster.run({}).start(), 2U) << path;
        EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(path)))
            << path;
    }
    static std::vector<std::filesystem::path> files_in(const std::filesystem::path &directory) {
        std::vector<std::filesystem::path> files;
        for (const auto &each : std::filesystem::directory_iterator(directory)) {
            files.push_back(each.path());
        }
        EXPECT_EQ(files.size(), 5U);
        return files;
    }
    std::vector<std::filesystem::path> files_of_rank_1() const {
        return files_in(epoch_in("n1", 2));
    }
};

TEST_F(InTheWay, ALinkCountsAsALostFileWhereverItLeads) {
    for (const std::filesystem::path &file : files_of_rank_1()) {
        replace_by_link(file);
        expect_rebuilt(file);
    }
}

TEST_F(InTheWay, ADirectoryWithSomethingInItIsNamedWithWhatToDo) {
    const std::filesystem::path image = epoch_in("n1", 2) / image_name(1);
    replace_by_directory(image);
    std::ofstream(image / "notes") << "somebody's";
    const auto outcome = cluster.run({}).outcome();
    EXPECT_EQ(outcome.code, CD_ERROR_STORE_IO);
    EXPECT_NE(outcome.text.find(image.string() + ": "), std::string::npos) << outcome.text;
    EXPECT_NE(outcome.text.find("Move it away"), std::string::npos) << outcome.text;
    std::filesystem::rename(image, image.string() + ".moved");
    expect_rebuilt(image);
}

} // namespace
} // namespace cd::checkpoint
