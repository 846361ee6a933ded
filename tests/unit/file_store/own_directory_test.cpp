// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/own_directory.h"

#include "file_store/directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace cd {
namespace {

TEST(OwnDirectory, IsOneInWhatAllMayWriteToAndElseWhatIsNamed) {
    std::string named = testing::TempDir() + "cd-own-XXXXXX";
    ASSERT_NE(::mkdtemp(named.data()), nullptr);
    for (const mode_t mode : {0700, 0755, 0777, 01755}) {
        ASSERT_EQ(::chmod(named.c_str(), mode), 0);
        EXPECT_EQ(own_directory(named), named);
    }
    ASSERT_EQ(::chmod(named.c_str(), 01777), 0);
    const std::string own = named + "/cd-stores-" + std::to_string(::getuid());
    EXPECT_EQ(own_directory(named), own);
    EXPECT_EQ(own_directory(own), own);
    EXPECT_FALSE(std::filesystem::exists(own)); // who uses it makes it
    // A link to it is refused by whoever opens it.
    const std::string link = named + "-link";
    std::filesystem::create_directory_symlink(named, link);
    for (const char *behind : {"", "/", "/."}) {
        EXPECT_EQ(own_directory(link + behind), link + behind);
    }
    std::filesystem::remove(link);
    std::filesystem::remove(named);
    EXPECT_EQ(own_directory(named), named);
}

TEST(OwnDirectory, StaysWhereStoresAreWhenModesChange) {
    std::string named = testing::TempDir() + "cd-own-XXXXXX";
    ASSERT_NE(::mkdtemp(named.data()), nullptr);
    const std::string own = named + "/cd-stores-" + std::to_string(::getuid());
    std::ofstream(named + "/0-solver.cds") << "made while it was private";
    ASSERT_EQ(::chmod(named.c_str(), 01777), 0);
    EXPECT_EQ(own_directory(named), named);
    Directory directory;
    EXPECT_EQ(Directory::open(named, directory).code(), CD_ERROR_STORE_DIRECTORY); // and says why
    std::filesystem::create_directory(own);
    for (const mode_t mode : {01777, 0700}) {
        ASSERT_EQ(::chmod(named.c_str(), mode), 0);
        EXPECT_EQ(own_directory(named), own);
    }
    std::filesystem::remove(own);
    std::ofstream(own) << "no directory";
    EXPECT_EQ(own_directory(named), named);
    std::filesystem::remove_all(named);
}

TEST(OwnDirectory, IsNotTakenForAPrivateOneByWhatOthersHaveMade) {
    std::string named = testing::TempDir() + "cd-own-XXXXXX";
    ASSERT_NE(::mkdtemp(named.data()), nullptr);
    ASSERT_EQ(::chmod(named.c_str(), 01777), 0);
    const std::string points = named + "/solver.points"; // as it is saved
    std::filesystem::create_directory(points);
    EXPECT_EQ(own_directory(named), named);
    const bool given_away = ::chown(points.c_str(), 12345, 12345) == 0;
    if (given_away) {
        EXPECT_EQ(own_directory(named), named + "/cd-stores-" + std::to_string(::getuid()));
    }
    std::filesystem::remove_all(named);
    if (!given_away) {
        GTEST_SKIP() << "only root can make files of others: their names were not looked at";
    }
}

} // namespace
} // namespace cd
