// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi_log/spill_file.h"

#include "spill_system.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace cd {
namespace {

using Content = std::vector<std::byte>;

Content zeros(size_t size) { return Content(size); }

Content noise(size_t size) {
    std::mt19937_64 random(size);
    Content bytes(size);
    for (std::byte &byte : bytes) {
        byte = static_cast<std::byte>(random());
    }
    return bytes;
}

struct SpillFileTest : testing::Test {
    SpillFileTest() {
        std::string name = testing::TempDir() + "cd-spill-XXXXXX";
        directory = ::mkdtemp(name.data());
    }
    ~SpillFileTest() override { std::filesystem::remove_all(directory); }

    Content read_back(SpillFile &file, const SpillFile::Extent &extent, size_t size) {
        Content bytes(size);
        EXPECT_TRUE(file.read(extent, bytes)) << message();
        return bytes;
    }

    SpillSystem system;
    std::string directory;
};

TEST_F(SpillFileTest, GivesBackWhatWasWritten) {
    for (const size_t at_once : {SIZE_MAX, size_t{1000}}) {
        system.most_at_once = at_once;
        SpillFile file(directory);
        uint64_t tail = 0;
        std::vector<std::pair<SpillFile::Extent, Content>> written;
        for (const size_t size : {0, 1, 100, 262143, 262144, 262145, 700000}) {
            for (const Content &bytes : {zeros(size), noise(size)}) {
                SpillFile::Extent extent;
                ASSERT_TRUE(file.write(tail, bytes, extent)) << message();
                EXPECT_EQ(extent.offset, tail);
                tail += extent.length;
                written.emplace_back(extent, bytes);
            }
        }
        for (const auto &[extent, bytes] : written) {
            EXPECT_EQ(read_back(file, extent, bytes.size()), bytes) << bytes.size();
        }
    }
}

TEST_F(SpillFileTest, HasNoNameAndIsForItsOwnerOnly) {
    SpillFile file(directory);
    EXPECT_EQ(system.calls[SpillSystem::opening], 0) << "opened before it is needed";
    SpillFile::Extent extent;
    ASSERT_TRUE(file.write(0, noise(100), extent)) << message();
    struct stat status = {};
    ASSERT_EQ(::fstat(system.last_opened, &status), 0);
    EXPECT_EQ(status.st_mode, static_cast<mode_t>(S_IFREG | S_IRUSR | S_IWUSR));
    EXPECT_EQ(status.st_nlink, 0U);
    struct stat of_directory = {};
    ASSERT_EQ(::stat(directory.c_str(), &of_directory), 0);
    EXPECT_EQ(status.st_dev, of_directory.st_dev);
    EXPECT_TRUE(std::filesystem::is_empty(directory));
}

TEST_F(SpillFileTest, AnyDamageIsAnError) {
    const Content bytes = noise(300);
    SpillFile file(directory);
    SpillFile::Extent extent;
    SpillFile::Extent other;
    ASSERT_TRUE(file.write(0, zeros(300), other));
    ASSERT_TRUE(file.write(other.length, bytes, extent));
    for (const SpillFile::Extent &damaged : {other, extent}) {
        for (uint64_t at = damaged.offset; at < damaged.offset + damaged.length; ++at) {
            char byte = 0;
            ASSERT_EQ(::pread(system.last_opened, &byte, 1, static_cast<off_t>(at)), 1);
            const char wrong = static_cast<char>(byte ^ 4);
            ASSERT_EQ(::pwrite(system.last_opened, &wrong, 1, static_cast<off_t>(at)), 1);
            Content into(300);
            EXPECT_EQ(file.read(damaged, into).code(), CD_ERROR_LOG_SPILL) << at;
            ASSERT_EQ(::pwrite(system.last_opened, &byte, 1, static_cast<off_t>(at)), 1);
        }
    }
    EXPECT_EQ(read_back(file, extent, 300), bytes);
    ASSERT_EQ(::ftruncate(system.last_opened, static_cast<off_t>(extent.offset + 50)), 0);
    Content into(300);
    EXPECT_EQ(file.read(extent, into).code(), CD_ERROR_LOG_SPILL);
}

TEST_F(SpillFileTest, ABlockOfAnotherPlaceIsAnError) {
    SpillFile file(directory);
    SpillFile::Extent first;
    SpillFile::Extent second;
    ASSERT_TRUE(file.write(0, noise(300), first));
    ASSERT_TRUE(file.write(first.length, noise(300), second));
    Content block(second.length);
    ASSERT_GT(
        ::pread(system.last_opened, block.data(), block.size(), static_cast<off_t>(second.offset)),
        0);
    ASSERT_GT(::pwrite(system.last_opened, block.data(), block.size(), 0), 0);
    Content into(300);
    EXPECT_EQ(file.read(first, into).code(), CD_ERROR_LOG_SPILL);
}

TEST_F(SpillFileTest, LeavesADescriptorAloneThatIsAnotherFileNow) {
    int fd = -1;
    {
        SpillFile file(directory);
        SpillFile::Extent extent;
        ASSERT_TRUE(file.write(0, noise(100), extent));
        fd = system.last_opened;
        const int theirs = ::open(directory.c_str(), O_TMPFILE | O_RDWR, 0600);
        ASSERT_EQ(::dup2(theirs, fd), fd);
        ::close(theirs);
        EXPECT_EQ(file.write(extent.length, noise(100), extent).code(), CD_ERROR_LOG_SPILL);
        Content into(100);
        EXPECT_EQ(file.read(extent, into).code(), CD_ERROR_LOG_SPILL);
    }
    struct stat status = {};
    ASSERT_EQ(::fstat(fd, &status), 0) << "closed, though not its own";
    EXPECT_EQ(status.st_size, 0);
    ::close(fd);
}

TEST_F(SpillFileTest, WhatTheSystemRefusesIsAnErrorWithTheValuesAndTheRemedy) {
    SpillFile file(directory + "/missing");
    SpillFile::Extent extent;
    EXPECT_EQ(file.write(0, noise(100), extent).code(), CD_ERROR_LOG_SPILL);
    for (const char *part : {"log_limit", "/missing", "No such file", "dir="}) {
        EXPECT_NE(std::string(message()).find(part), std::string::npos) << message();
    }
    SpillFile good(directory);
    system.fail(SpillSystem::writing, 0);
    EXPECT_EQ(good.write(0, noise(100), extent).code(), CD_ERROR_LOG_SPILL);
    for (const char *part : {"log_limit", directory.c_str(), "No space", "dir="}) {
        EXPECT_NE(std::string(message()).find(part), std::string::npos) << message();
    }
    EXPECT_TRUE(good.write(0, noise(100), extent));
    system.fail(SpillSystem::reading, 0);
    Content into(100);
    EXPECT_EQ(good.read(extent, into).code(), CD_ERROR_LOG_SPILL);
    EXPECT_NE(std::string(message()).find("Input/output error"), std::string::npos) << message();
    EXPECT_TRUE(good.read(extent, into));
}

} // namespace
} // namespace cd
