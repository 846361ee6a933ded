// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "ranges/file_table.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace cd {
namespace {

using Positions = std::vector<std::pair<int, off_t>>;

Positions positions(const FileTable &files) {
    Positions found;
    for (const FilePosition &file : files) {
        found.emplace_back(file.descriptor, file.position);
    }
    return found;
}

struct FileTableTest : testing::Test {
    FileTableTest() {
        files.add({7, 1, 1, 70});
        files.add({3, 1, 2, 30});
        files.add({5, 1, 3, 50});
    }

    FileTable files;
};

TEST_F(FileTableTest, IsInOrderOfDescriptor) {
    EXPECT_EQ(positions(files), (Positions{{3, 30}, {5, 50}, {7, 70}}));
    EXPECT_EQ(files.size(), 3u);
}

TEST_F(FileTableTest, KeepsTheOlderPosition) {
    files.add({5, 9, 9, 55});
    EXPECT_EQ(positions(files), (Positions{{3, 30}, {5, 50}, {7, 70}}));
    EXPECT_EQ(std::next(files.begin())->device, 1u);
}

TEST_F(FileTableTest, HoldsWhatWasAddedAndNotRemoved) {
    for (const int descriptor : {3, 5, 7}) {
        EXPECT_TRUE(files.holds(descriptor)) << descriptor;
    }
    for (const int descriptor : {0, 4, 6, 8}) {
        EXPECT_FALSE(files.holds(descriptor)) << descriptor;
    }
    files.remove(5);
    EXPECT_FALSE(files.holds(5));
    EXPECT_EQ(positions(files), (Positions{{3, 30}, {7, 70}}));
    files.add({5, 1, 3, 51});
    EXPECT_EQ(positions(files), (Positions{{3, 30}, {5, 51}, {7, 70}}));
}

TEST_F(FileTableTest, ReplacesAllPositions) {
    std::vector<FilePosition> now = {{3, 1, 2, 33}, {5, 1, 3, 55}, {7, 1, 1, 77}};
    files.replace(now);
    EXPECT_EQ(positions(files), (Positions{{3, 33}, {5, 55}, {7, 77}}));
}

TEST_F(FileTableTest, AddsWithoutMovingWhenThereIsRoom) {
    files.reserve_room(2);
    const FilePosition *first = &*files.begin();
    files.add({9, 1, 4, 90});
    files.add({8, 1, 5, 80});
    EXPECT_EQ(&*files.begin(), first);
    EXPECT_EQ(files.size(), 5u);
}

using Files = std::vector<FilePosition>;

// The position that is found for the file; -1: none is.
off_t found(Files files, const FilePosition &now) {
    const auto at = find_same_file(files, now);
    return at == files.end() ? -1 : at->position;
}

TEST(FindSameFile, AreKnownByDeviceInodeAndBirth) {
    const Files files = {{3, 1, 10, 42, 100}};
    EXPECT_EQ(found(files, {7, 1, 10, 0, 100}), 42);
    EXPECT_EQ(found(files, {3, 1, 11, 0, 100}), -1);
    EXPECT_EQ(found(files, {3, 1, 10, 0, 101}), -1) << "the inode was used again";
    EXPECT_EQ(found({}, {3, 1, 10, 0, 100}), -1);
}

TEST(FindSameFile, AreKnownWithoutBirthsThatNobodyTells) {
    EXPECT_EQ(found({{3, 1, 10, 42, 0}}, {7, 1, 10, 0, 100}), 42);
    EXPECT_EQ(found({{3, 1, 10, 42, 100}}, {7, 1, 10, 0, 0}), 42);
}

TEST(FindSameFile, AreKnownAfterTheFileSystemWasMountedAgain) {
    EXPECT_EQ(found({{3, 1, 10, 42, 100}}, {7, 2, 10, 0, 100}), 42);
    EXPECT_EQ(found({{3, 1, 10, 42, 0}}, {7, 2, 10, 0, 0}), 42);
}

TEST(FindSameFile, OfTwoThatMayBeItTheSurerOneIsTaken) {
    EXPECT_EQ(found({{3, 2, 10, 22, 0}, {4, 1, 10, 11, 0}}, {3, 1, 10, 0, 0}), 11);
    EXPECT_EQ(found({{3, 3, 10, 33, 0}, {4, 2, 10, 22, 100}}, {3, 1, 10, 0, 100}), 22);
}

TEST(FindSameFile, OfOneFileTheFirstIsTakenWhateverTheNumbersOfDescriptors) {
    const Files files = {{3, 1, 10, 33, 0}, {4, 1, 10, 44, 0}};
    EXPECT_EQ(found(files, {4, 1, 10, 0, 0}), 33);
    EXPECT_EQ(found(files, {7, 1, 10, 0, 0}), 33);
}

} // namespace
} // namespace cd
