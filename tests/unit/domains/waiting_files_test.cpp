// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/waiting_files.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace cd {
namespace {

using Waiting = std::vector<FilePosition>;

// The position that is found; -1: none.
off_t found(Waiting waiting, const FilePosition &now) {
    const auto at = find_waiting(waiting, now);
    return at == waiting.end() ? -1 : at->position;
}

TEST(WaitingFiles, AreKnownByDeviceInodeAndBirth) {
    const Waiting waiting = {{3, 1, 10, 42, 100}};
    EXPECT_EQ(found(waiting, {7, 1, 10, 0, 100}), 42);
    EXPECT_EQ(found(waiting, {3, 1, 11, 0, 100}), -1);
    EXPECT_EQ(found(waiting, {3, 1, 10, 0, 101}), -1) << "the inode was used again";
    EXPECT_EQ(found({}, {3, 1, 10, 0, 100}), -1);
}

TEST(WaitingFiles, AreKnownWithoutBirthsThatNobodyTells) {
    EXPECT_EQ(found({{3, 1, 10, 42, 0}}, {7, 1, 10, 0, 100}), 42);
    EXPECT_EQ(found({{3, 1, 10, 42, 100}}, {7, 1, 10, 0, 0}), 42);
}

TEST(WaitingFiles, AreKnownAfterTheFileSystemWasMountedAgain) {
    EXPECT_EQ(found({{3, 1, 10, 42, 100}}, {7, 2, 10, 0, 100}), 42);
    EXPECT_EQ(found({{3, 1, 10, 42, 0}}, {7, 2, 10, 0, 0}), 42);
}

TEST(WaitingFiles, OfTwoThatMayBeItTheSurerOneIsTaken) {
    EXPECT_EQ(found({{3, 2, 10, 22, 0}, {4, 1, 10, 11, 0}}, {3, 1, 10, 0, 0}), 11);
    EXPECT_EQ(found({{3, 3, 10, 33, 0}, {4, 2, 10, 22, 100}}, {3, 1, 10, 0, 100}), 22);
}

TEST(WaitingFiles, OfOneFileTheFirstIsTakenWhateverTheNumbersOfDescriptors) {
    const Waiting waiting = {{3, 1, 10, 33, 0}, {4, 1, 10, 44, 0}};
    EXPECT_EQ(found(waiting, {4, 1, 10, 0, 0}), 33);
    EXPECT_EQ(found(waiting, {7, 1, 10, 0, 0}), 33);
}

using Places = std::vector<std::pair<int, off_t>>;

template <typename Files> Places places_of(const Files &files) {
    Places places;
    for (const FilePosition &file : files) {
        places.emplace_back(file.descriptor, file.position);
    }
    return places;
}

class FilesOfAChild : public testing::Test {
protected:
    CdFiles given() const { return files_with_those_of(child_, parent_); }

    Domain parent_;
    Domain child_;
};

TEST_F(FilesOfAChild, WaitInTheParentToo) {
    child_.unbound_files = {{3, 1, 10, 30}, {4, 1, 11, 40}};
    EXPECT_EQ(places_of(given().waiting), (Places{{3, 30}, {4, 40}}));
    EXPECT_EQ(given().held.size(), 0U);
}

TEST_F(FilesOfAChild, GiveWayToThoseOfTheParent) {
    parent_.files.add({3, 1, 10, 33});
    parent_.unbound_files = {{4, 1, 11, 44}};
    child_.unbound_files = {{3, 1, 10, 30}, {4, 1, 11, 40}};
    EXPECT_EQ(places_of(given().held), (Places{{3, 33}}));
    EXPECT_EQ(places_of(given().waiting), (Places{{4, 44}}));
}

TEST_F(FilesOfAChild, HaveTheParentsPositionWhereThatWaits) {
    parent_.unbound_files = {{3, 1, 10, 33}, {4, 1, 11, 44}};
    child_.files.add({7, 1, 11, 70});
    EXPECT_EQ(places_of(given().held), (Places{{7, 44}}));
    EXPECT_EQ(given().held.begin()->came_as, 4);
    EXPECT_EQ(places_of(given().waiting), (Places{{3, 33}}));
}

TEST_F(FilesOfAChild, GiveWayToOneThatCameBackUnderAnotherNumber) {
    FilePosition came_back = {7, 1, 10, 33};
    came_back.came_as = 3;
    parent_.files.add(came_back);
    child_.unbound_files = {{3, 1, 10, 30}, {7, 1, 10, 70}};
    EXPECT_EQ(places_of(given().held), (Places{{7, 33}}));
    EXPECT_EQ(places_of(given().waiting), (Places{{7, 70}})) << "its second descriptor";
}

TEST_F(FilesOfAChild, AreOthersWhereOneFileHadSeveralDescriptors) {
    parent_.unbound_files = {{3, 1, 10, 33}};
    child_.unbound_files = {{4, 1, 10, 40}};
    EXPECT_EQ(places_of(given().waiting), (Places{{3, 33}, {4, 40}}));
}

} // namespace
} // namespace cd
