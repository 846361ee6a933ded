// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/permissions.h"

#include "failing_calls.h"
#include "file_store/directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace cd {
namespace {

std::string directory_in(const std::string &named) {
    std::string directory;
    const Status status = own_directory(named, directory);
    return status ? directory : message();
}

TEST(OwnDirectory, IsOneInWhatAllMayWriteToAndElseWhatIsNamed) {
    std::string named = testing::TempDir() + "cd-own-XXXXXX";
    ASSERT_NE(::mkdtemp(named.data()), nullptr);
    for (const mode_t mode : {0700, 0755, 0777, 01755}) {
        ASSERT_EQ(::chmod(named.c_str(), mode), 0);
        EXPECT_EQ(directory_in(named), named);
    }
    ASSERT_EQ(::chmod(named.c_str(), 01777), 0);
    const std::string own = named + "/cd-stores-" + std::to_string(::getuid());
    EXPECT_EQ(directory_in(named), own);
    EXPECT_EQ(directory_in(own), own);
    EXPECT_FALSE(std::filesystem::exists(own)); // who uses it makes it
    // A link to it is refused by whoever opens it.
    const std::string link = named + "-link";
    std::filesystem::create_directory_symlink(named, link);
    for (const char *behind : {"", "/", "/."}) {
        EXPECT_EQ(directory_in(link + behind), link + behind);
    }
    std::filesystem::remove(link);
    std::filesystem::remove(named);
    EXPECT_EQ(directory_in(named), named);
}

TEST(OwnDirectory, StaysWhereStoresAreWhenModesChange) {
    std::string named = testing::TempDir() + "cd-own-XXXXXX";
    ASSERT_NE(::mkdtemp(named.data()), nullptr);
    const std::string own = named + "/cd-stores-" + std::to_string(::getuid());
    std::ofstream(named + "/0-solver.cds") << "made while it was private";
    ASSERT_EQ(::chmod(named.c_str(), 01777), 0);
    EXPECT_EQ(directory_in(named), named);
    Directory directory;
    EXPECT_EQ(Directory::open(named, directory).code(), CD_ERROR_STORE_DIRECTORY); // and says why
    std::filesystem::create_directory(own);
    for (const mode_t mode : {01777, 0700}) {
        ASSERT_EQ(::chmod(named.c_str(), mode), 0);
        EXPECT_EQ(directory_in(named), own);
    }
    std::filesystem::remove(own);
    std::ofstream(own) << "no directory";
    EXPECT_EQ(directory_in(named), named);
    std::filesystem::remove_all(named);
}

// As it does while the process has too many files open.
TEST(OwnDirectory, IsNotAnotherOneBecauseACallFails) {
    std::string named = testing::TempDir() + "cd-own-XXXXXX";
    ASSERT_NE(::mkdtemp(named.data()), nullptr);
    const std::string of_user = named + "/cd-stores-" + std::to_string(::getuid());
    const auto fails_at_each_call = [&] {
        const std::string expected = directory_in(named);
        FailingSystem system;
        bool always = true;
        for (int call = 0; call == 0 || system.failed; ++call) {
            system.failing = call;
            system.failed = false;
            std::string directory;
            const Status status = own_directory(named, directory);
            always &= system.failed ? !status && status.code() == CD_ERROR_STORE_DIRECTORY
                                    : status && directory == expected;
        }
        return always;
    };
    std::filesystem::create_directory(of_user);
    EXPECT_TRUE(fails_at_each_call());
    std::filesystem::remove(of_user);
    std::ofstream(named + "/0-solver.cds") << "made while it was private";
    ASSERT_EQ(::chmod(named.c_str(), 01777), 0);
    EXPECT_TRUE(fails_at_each_call());
    std::filesystem::remove_all(named);
}

TEST(OwnDirectory, IsNotTakenForAPrivateOneByWhatOthersHaveMade) {
    std::string named = testing::TempDir() + "cd-own-XXXXXX";
    ASSERT_NE(::mkdtemp(named.data()), nullptr);
    ASSERT_EQ(::chmod(named.c_str(), 01777), 0);
    const std::string points = named + "/solver.points"; // as it is saved
    std::filesystem::create_directory(points);
    EXPECT_EQ(directory_in(named), named);
    const bool given_away = ::chown(points.c_str(), 12345, 12345) == 0;
    if (given_away) {
        EXPECT_EQ(directory_in(named), named + "/cd-stores-" + std::to_string(::getuid()));
    }
    std::filesystem::remove_all(named);
    if (!given_away) {
        GTEST_SKIP() << "only root can make files of others: their names were not looked at";
    }
}

} // namespace
} // namespace cd
