// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Members with so many files that what a member has to tell of them is larger than any file of
// redset may be.
#include "redset/kvtree_file.h"
#include "scratch_set.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "redset/encode.h"
#include "redset/thread_exchange.h"

namespace cd::redset {
namespace {

namespace fs = std::filesystem;

// One empty file, under so many names, each of which is as long as a name may be.
class ManyNames {
public:
    ManyNames() : scratch_(single_set({Scheme::single, 1, 0}), {{0}}) {
        const fs::path file = scratch_.names(0).front();
        folder_ = file.parent_path() / std::string(200, 'd');
        fs::create_directory(scratch_.folder() / folder_);
    }

    Status apply(size_t count) const {
        const fs::path file = scratch_.names(0).front();
        const std::string there_and_back = folder_.filename().string() + "/../";
        std::string name = file.parent_path().string() + '/';
        while (name.size() + there_and_back.size() + file.filename().string().size() < 1000) {
            name += there_and_back;
        }
        name += file.filename();
        const std::vector<std::string> names(count, name);
        return run_members(1, [&](Exchange &exchange) {
            return redset::apply(exchange, scratch_.set(), scratch_.place(), names,
                                 {.sync = false});
        });
    }
    uint64_t header() const {
        return fs::file_size(scratch_.place().scheme_file(scratch_.set(), 0));
    }
    uint64_t checksums() const {
        return fs::file_size(scratch_.place().checksums(scratch_.set(), 0));
    }
    ScratchSet &scratch() { return scratch_; }

private:
    ScratchSet scratch_;
    fs::path folder_;
};

TEST(LargeHeaders, AreRebuiltWhereHeaderAndChecksumsTogetherAreLargerThanAnImage) {
    ManyNames files;
    ASSERT_TRUE(files.apply(1000)) << message();
    const uint64_t of_a_thousand = files.header();
    ASSERT_TRUE(files.apply(2000)) << message();
    const uint64_t each = (files.header() - of_a_thousand) / 1000;
    // Numbers have more digits later.
    ASSERT_TRUE(files.apply(largest_image / (each + 4))) << message();
    ASSERT_LE(files.header(), largest_image);
    ASSERT_GT(files.header() + files.checksums(), largest_image);
    fs::remove(files.scratch().place().descriptor(files.scratch().set(), 0));
    ASSERT_TRUE(files.scratch().rebuild()) << message();
    EXPECT_TRUE(fs::exists(files.scratch().place().descriptor(files.scratch().set(), 0)));
}

} // namespace
} // namespace cd::redset
