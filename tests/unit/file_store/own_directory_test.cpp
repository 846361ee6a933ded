// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "file_store/permissions.h"

#include "failing_calls.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

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

// Calls fail while the process has too many files open, for instance.
TEST(OwnDirectory, IsNotAnotherOneBecauseACallFails) {
    std::string named = testing::TempDir() + "cd-own-XXXXXX";
    ASSERT_NE(::mkdtemp(named.data()), nullptr);
    for (const mode_t mode : {0700, 01777}) {
        ASSERT_EQ(::chmod(named.c_str(), mode), 0);
        const std::string expected = directory_in(named);
        FailingSystem system;
        for (int call = 0; call == 0 || system.failed; ++call) {
            system.failing = call;
            system.failed = false;
            std::string directory;
            const Status status = own_directory(named, directory);
            EXPECT_TRUE(system.failed ? status.code() == CD_ERROR_STORE_DIRECTORY
                                      : status && directory == expected);
        }
    }
    std::filesystem::remove_all(named);
}

} // namespace
} // namespace cd
