// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "fixture.h"

#include <numeric>

namespace {

class Commit : public CdTest {
protected:
    void SetUp() override {
        CdTest::SetUp();
        std::iota(std::begin(memory), std::end(memory), uint8_t{1});
        root = make_root();
        child = make_child(root);
    }

    void clear() { std::memset(memory, 0, sizeof memory); }

    uint8_t memory[16];
    cd_handle root, child;
};

TEST_F(Commit, OldestWinsByteByByte) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(memory + 4, 4)}, 1)));
    std::memset(memory, 50, sizeof memory);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {bytes(memory + 2, 8)}, 1)));
    ASSERT_TRUE(succeeds(commit_cd(child)));
    EXPECT_EQ(info_of(root).bytes, 8U);
    clear();
    ASSERT_TRUE(succeeds(restore_cd(root)));
    const uint8_t expected[16] = {0, 0, 50, 50, 5, 6, 7, 8, 50, 50};
    EXPECT_EQ(std::memcmp(memory, expected, sizeof memory), 0);
}

TEST_F(Commit, DoesNotTouchMemory) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(memory)}, 1)));
    memory[0] = 77;
    ASSERT_TRUE(succeeds(commit_cd(child)));
    EXPECT_EQ(memory[0], 77);
}

TEST_F(Commit, ConstrainedBytesStayBehind) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(
        child,
        {bytes(memory, 4, READ_WRITE, GLOBAL), bytes(memory + 4, 4, READ_WRITE, CONSTRAINED)}, 2)));
    ASSERT_TRUE(succeeds(commit_cd(child)));
    EXPECT_EQ(info_of(root).bytes, 4U);
}

TEST_F(Commit, PromotesTheParentsReadOnlyBytes) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(memory, 8, READ_ONLY)}, 1)));
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {bytes(memory + 2, 4, READ_WRITE)}, 1)));
    ASSERT_TRUE(succeeds(commit_cd(child)));
    EXPECT_EQ(info_of(root).read_write, 4U);
    EXPECT_EQ(info_of(root).bytes, 8U);
    std::memset(memory, 50, sizeof memory);
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    clear();
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(memory[1], 2);
    EXPECT_EQ(memory[2], 50);
    EXPECT_EQ(memory[5], 50);
    EXPECT_EQ(memory[6], 7);
}

TEST_F(Commit, PromotesEvenIfTheChildsEntryIsViaParent) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(memory, 8, READ_ONLY)}, 1)));
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(child, {bytes(memory, 8, READ_WRITE)}, 1)));
    ASSERT_TRUE(succeeds(commit_cd(child)));
    EXPECT_EQ(info_of(root).read_write, 8U);
}

TEST_F(Commit, PromotesThroughParentEntriesUpToTheCopy) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(memory, 8, READ_ONLY)}, 1)));
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(child, {bytes(memory, 8, READ_ONLY)}, 1)));
    const cd_handle grandchild = make_child(child);
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(grandchild, {bytes(memory, 8, READ_WRITE)}, 1)));
    ASSERT_TRUE(succeeds(commit_cd(grandchild)));
    EXPECT_EQ(info_of(child).read_write, 8U);
    EXPECT_EQ(info_of(root).read_write, 0U) << "only one level at a time";
    ASSERT_TRUE(succeeds(commit_cd(child)));
    EXPECT_EQ(info_of(root).read_write, 8U);
}

TEST_F(Commit, PromotesEvenIfTheChildsEntryIsConstrained) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(memory, 8, READ_ONLY)}, 1)));
    ASSERT_TRUE(
        succeeds(add_to_cd_via_copy(child, {bytes(memory, 8, READ_WRITE, CONSTRAINED)}, 1)));
    ASSERT_TRUE(succeeds(commit_cd(child)));
    EXPECT_EQ(info_of(root).read_write, 8U);
}

// Nothing of these bytes goes to the CD in between.
TEST_F(Commit, PromotesTheNearestAncestorThatHoldsTheBytes) {
    std::memset(memory, 1, sizeof memory);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(memory, 8, READ_ONLY)}, 1)));
    const cd_handle grandchild = make_child(child);
    ASSERT_TRUE(succeeds(
        add_to_cd_via_copy(grandchild, {bytes(memory + 1, 3, READ_WRITE, CONSTRAINED)}, 1)));
    ASSERT_TRUE(succeeds(
        add_to_cd_via_parent(grandchild, {bytes(memory + 6, 2, READ_WRITE, CONSTRAINED)}, 1)));
    std::memset(memory, 2, sizeof memory);
    ASSERT_TRUE(succeeds(commit_cd(grandchild)));
    EXPECT_EQ(info_of(child).bytes, 0U);
    EXPECT_EQ(info_of(root).read_write, 5U);
    ASSERT_TRUE(succeeds(commit_cd(child)));
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    clear();
    ASSERT_TRUE(succeeds(restore_cd(root)));
    const uint8_t expected[8] = {1, 2, 2, 2, 1, 1, 2, 2};
    EXPECT_EQ(std::memcmp(memory, expected, 8), 0);
}

TEST_F(Commit, PromotionPassesOverAncestorsThatRegenerateTheBytes) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(memory, 8, READ_ONLY)}, 1)));
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(child, {bytes(memory, 4, READ_ONLY)}, 1, write_ones)));
    const cd_handle grandchild = make_child(child);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(grandchild, {bytes(memory, 8, READ_WRITE)}, 1)));
    ASSERT_TRUE(succeeds(commit_cd(grandchild)));
    EXPECT_EQ(info_of(child).read_write, 4U) << "what it got from the grandchild";
    EXPECT_EQ(info_of(root).read_write, 4U) << "what the child regenerates";
}

TEST_F(Commit, DoesNotDemoteTheParentsBytes) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(memory, 8, READ_WRITE)}, 1)));
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {bytes(memory, 8, READ_ONLY)}, 1)));
    ASSERT_TRUE(succeeds(commit_cd(child)));
    EXPECT_EQ(info_of(root).read_write, 8U);
}

TEST_F(Commit, ParentsRegenBytesStayReadOnly) {
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(root, {bytes(memory, 8, READ_ONLY)}, 1, write_ones)));
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {bytes(memory, 8, READ_WRITE)}, 1)));
    ASSERT_TRUE(succeeds(commit_cd(child)));
    EXPECT_EQ(info_of(root).read_write, 0U);
    clear();
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(memory[0], 0x11) << "and the oldest still wins";
}

TEST_F(Commit, RegenEntryMovesToTheParent) {
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(child, {bytes(memory, 8, READ_ONLY)}, 1, write_ones)));
    ASSERT_TRUE(succeeds(commit_cd(child)));
    clear();
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(memory[7], 0x11);
    EXPECT_EQ(memory[8], 0);
}

TEST_F(Commit, ParentEntryMovesToTheParentAndStillFindsItsCopy) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(memory, 8)}, 1)));
    const cd_handle grandchild = make_child(child);
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(grandchild, {bytes(memory, 8)}, 1)));
    ASSERT_TRUE(succeeds(commit_cd(grandchild)));
    EXPECT_EQ(info_of(child).bytes, 8U);
    EXPECT_EQ(info_of(child).stored_bytes, 0U);
    clear();
    ASSERT_TRUE(succeeds(restore_cd(child)));
    EXPECT_EQ(memory[7], 8);
}

TEST_F(Commit, ParentEntryThatArrivesInARootFailsItsRestore) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(memory, 8)}, 1)));
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(child, {bytes(memory, 8)}, 1)));
    ASSERT_TRUE(succeeds(delete_from_cd(root, {bytes(memory, 8)}, 1)));
    ASSERT_TRUE(succeeds(commit_cd(child)));
    EXPECT_EQ(info_of(root).bytes, 8U);
    EXPECT_TRUE(fails_with(CD_ERROR_NOT_IN_PARENT, restore_cd(root)));
}

TEST_F(Commit, IsRefusedWhileThereAreChildren) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(memory)}, 1)));
    EXPECT_TRUE(fails_with(CD_ERROR_HAS_CHILDREN, commit_cd(root)));
    make_child(child);
    EXPECT_TRUE(fails_with(CD_ERROR_HAS_CHILDREN, commit_cd(child)));
    EXPECT_EQ(info_of(root).bytes, 0U);
    EXPECT_EQ(info_of(child).bytes, sizeof memory);
}

TEST_F(Commit, HandleIsNoGoodAfterwards) {
    ASSERT_TRUE(succeeds(commit_cd(child)));
    EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, commit_cd(child)));
    EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, restore_cd(child)));
    EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, advance_cd_point_in_time(child)));
    EXPECT_TRUE(fails_with(CD_ERROR_INVALID_HANDLE, add_to_cd_via_copy(child, {rw(memory)}, 1)));
    EXPECT_TRUE(is_gone(child));
}

TEST_F(Commit, ReadWriteBytesStayReadWriteInTheParent) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(
        child, {bytes(memory, 4, READ_WRITE), bytes(memory + 4, 4, READ_ONLY)}, 2)));
    ASSERT_TRUE(succeeds(commit_cd(child)));
    EXPECT_EQ(info_of(root).read_write, 4U);
    EXPECT_EQ(info_of(root).entries, 2U);
}

TEST_F(Commit, SiblingsGiveTheirDataOneAfterTheOther) {
    const cd_handle second = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {bytes(memory, 8, READ_ONLY)}, 1)));
    std::memset(memory, 50, sizeof memory);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(second, {bytes(memory + 4, 8, READ_ONLY)}, 1)));
    ASSERT_TRUE(succeeds(commit_cd(second)));
    ASSERT_TRUE(succeeds(commit_cd(child)));
    clear();
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(memory[0], 1);
    EXPECT_EQ(memory[4], 50) << "the first to commit is what the parent holds";
    EXPECT_EQ(memory[11], 50);
}

} // namespace
