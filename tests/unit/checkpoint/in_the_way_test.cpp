// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Something that is no file of ours has the name of one, or of an attempt's directory.

#include "protected.h"

#include <fstream>

namespace cd::checkpoint {
namespace {

namespace fs = std::filesystem;

class InTheWay : public Protected {
protected:
    void SetUp() override { cluster.run({1, 2}); }

    // What has the name leads to what had it.
    void replace_by_link(const fs::path &path) const {
        const fs::path elsewhere = cluster.directory("n0").parent_path() / "elsewhere";
        fs::rename(path, elsewhere);
        fs::create_symlink(elsewhere, path);
    }
    static void replace_by_directory(const fs::path &path) {
        fs::remove(path);
        fs::create_directory(path);
    }
    // All start from epoch 2, and rank 1 has the file again.
    void expect_rebuilt(const fs::path &path) const {
        EXPECT_EQ(cluster.run({}).start(), 2U) << path;
        EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path))) << path;
    }
    static std::vector<fs::path> files_in(const fs::path &directory) {
        std::vector<fs::path> files;
        for (const auto &each : fs::directory_iterator(directory)) {
            files.push_back(each.path());
        }
        EXPECT_EQ(files.size(), 5U);
        return files;
    }
    std::vector<fs::path> files_of_rank_1() const { return files_in(epoch_in("n1", 2)); }
};

TEST_F(InTheWay, ALinkCountsAsALostFileWhereverItLeads) {
    for (const fs::path &file : files_of_rank_1()) {
        replace_by_link(file);
        expect_rebuilt(file);
    }
}

TEST_F(InTheWay, ADirectoryWithSomethingInItIsNamedWithWhatToDo) {
    const fs::path image = epoch_in("n1", 2) / image_name(1);
    replace_by_directory(image);
    std::ofstream(image / "notes") << "somebody's";
    const auto outcome = cluster.run({}).outcome();
    EXPECT_EQ(outcome.code, CD_ERROR_STORE_IO);
    EXPECT_NE(outcome.text.find(image.string() + ": "), std::string::npos) << outcome.text;
    EXPECT_NE(outcome.text.find("Move it away"), std::string::npos) << outcome.text;
    fs::rename(image, image.string() + ".moved");
    expect_rebuilt(image);
}

} // namespace
} // namespace cd::checkpoint
