// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/offline_rebuild.h"

#include "os/system.h"
#include "scratch_set.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <string>

namespace cd::redset {
namespace {

namespace fs = std::filesystem;

class BoundsTest : public ::testing::Test {
protected:
    Status check(const std::string &name, const Bounds &bounds) {
        survey_.files = {{{name, {}}}, {}, {}};
        survey_.members = {{"gone", ""}, {}, {}};
        return check_bounds(scratch_.set(), 0, {scratch_.folder(), ""}, survey_, bounds);
    }

    ScratchSet scratch_{single_set({Scheme::xor_set, 3, 1}), {{1}, {1}, {1}}};
    Survey survey_;
};

TEST_F(BoundsTest, LetFilesBeBackInDirectoriesThatAreNotThereYet) {
    EXPECT_TRUE(check("new/below/file", {scratch_.folder()})) << message();
    EXPECT_TRUE(check("in/../new/below/file", {scratch_.folder()})) << message();
    EXPECT_EQ(check("in/../../file", {scratch_.folder()}).code(), CD_ERROR_ARGUMENT);
    EXPECT_EQ(check("new/file", {scratch_.folder() / "new" / "below"}).code(), CD_ERROR_ARGUMENT);
}

// Another file of the same set may make it there.
TEST_F(BoundsTest, AreNotKnownBehindWhatLeadsToNothingYet) {
    fs::create_directory_symlink("new", scratch_.folder() / "link");
    EXPECT_EQ(check("link/../../file", {scratch_.folder()}).code(), CD_ERROR_STORE_IO);
    EXPECT_EQ(check("link/below/file", {scratch_.folder()}).code(), CD_ERROR_STORE_IO);
    EXPECT_EQ(check("not/../new/file", {scratch_.folder()}).code(), CD_ERROR_STORE_IO);
}

TEST_F(BoundsTest, AreOfNamesThatAFileCanHave) {
    for (const char *name : {"in/x/", "in/x/..", "in/.", "."}) {
        EXPECT_EQ(check(name, {scratch_.folder()}).code(), CD_ERROR_ARGUMENT) << name;
    }
}

TEST_F(BoundsTest, OfTheRootOrOfNothingAreNone) {
    EXPECT_TRUE(check("/elsewhere/file", {"/"})) << message();
    EXPECT_TRUE(check("/elsewhere/file", {})) << message();
}

TEST_F(BoundsTest, AreNotAskedWhereNoFileIsLost) {
    survey_.members = {{"", "the scheme file"}, {}, {}};
    survey_.files = {{{"/elsewhere/file", {}}}, {}, {}};
    EXPECT_TRUE(check_bounds(scratch_.set(), 0, {scratch_.folder(), ""}, survey_, {"/tmp"}));
}

TEST_F(BoundsTest, FailWhereNobodyCanTellWhereANameLeads) {
    fs::create_symlink("round", scratch_.folder() / "round");
    EXPECT_EQ(check("round/file", {scratch_.folder()}).code(), CD_ERROR_STORE_IO);
    EXPECT_NE(std::string(message()).find("round: cannot tell where this leads"), std::string::npos)
        << message();
}

TEST_F(BoundsTest, HaveWhatIsBelowThemWhereverLinksLead) {
    const std::string in = scratch_.folder() / "in";
    fs::create_directories(in);
    fs::create_directory_symlink("/tmp", scratch_.folder() / "out");
    fs::create_symlink("round", scratch_.folder() / "round");
    EXPECT_TRUE(is_in_bounds(in, {scratch_.folder()}));
    EXPECT_TRUE(is_in_bounds("/tmp", {}));
    EXPECT_FALSE(is_in_bounds(scratch_.folder() / "out", {scratch_.folder()}));
    EXPECT_FALSE(is_in_bounds(scratch_.folder() / "round", {scratch_.folder()}));
    EXPECT_FALSE(is_in_bounds(scratch_.folder(), {in}));
}

} // namespace
} // namespace cd::redset
