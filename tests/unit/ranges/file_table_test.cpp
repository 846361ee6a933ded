// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "ranges/file_table.h"

#include <gtest/gtest.h>

#include <vector>

namespace cd {
namespace {

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

TEST(FindSameFile, OfTwoCandidatesTheSurerOneIsTaken) {
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
