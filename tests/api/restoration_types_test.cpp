// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "fixture.h"

// COPY, PARENT and REGEN, and changing one into another.
namespace {

int calls_of_first = 0;
int calls_of_second = 0;

int count_and_write_ones(cd_addrspec list[], int count) {
    ++calls_of_first;
    for (int i = 0; i < count; ++i)
        std::memset(list[i].address, 0x11, list[i].length);
    return 0;
}

int write_twos(cd_addrspec list[], int count) {
    ++calls_of_second;
    for (int i = 0; i < count; ++i)
        std::memset(list[i].address, 0x22, list[i].length);
    return 0;
}

class RestorationTypes : public CdTest {
protected:
    void SetUp() override {
        CdTest::SetUp();
        calls_of_first = calls_of_second = 0;
        root = make_root();
        ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(x)}, 1))); // 0x01
        x = 0x02;
        child = make_child(root);
    }

    uint8_t restored_by_child() {
        x = 0xFF;
        EXPECT_TRUE(succeeds(restore_cd(child)));
        return x;
    }

    uint8_t x = 0x01;
    cd_handle root, child;
};

// ---- The table "Consequences of Changing Restoration Type", row by row. ------------------

TEST_F(RestorationTypes, ParentToRegenTakesTheFunction) {
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(child, {ro(x)}, 1)));
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(child, {ro(x)}, 1, count_and_write_ones)));
    EXPECT_EQ(restored_by_child(), 0x11);
    EXPECT_EQ(info_of(child).entries, 1U);
}

TEST_F(RestorationTypes, RegenToParentTakesTheParentsData) {
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(child, {ro(x)}, 1, count_and_write_ones)));
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(child, {rw(x)}, 1)));
    EXPECT_EQ(restored_by_child(), 0x01);
    EXPECT_EQ(calls_of_first, 0);
    EXPECT_EQ(info_of(child).read_write, 1U) << "the new label holds";
}

TEST_F(RestorationTypes, CopyToParentTakesTheParentsDataAndFreesItsOwn) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(x)}, 1)));
    EXPECT_GE(info_of(child).stored_bytes, 1U);
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(child, {rw(x)}, 1)));
    EXPECT_EQ(info_of(child).stored_bytes, 0U);
    EXPECT_EQ(restored_by_child(), 0x01);
}

TEST_F(RestorationTypes, CopyToRegenTakesTheFunctionAndFreesItsData) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(x)}, 1)));
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(child, {ro(x)}, 1, count_and_write_ones)));
    EXPECT_EQ(info_of(child).stored_bytes, 0U);
    EXPECT_EQ(info_of(child).read_write, 0U);
    EXPECT_EQ(restored_by_child(), 0x11);
}

TEST_F(RestorationTypes, CopyToRegenGivesTheFunctionEachRangeAsItWasAdded) {
    static int most_ranges;
    most_ranges = 0;
    const auto count_ranges = [](cd_addrspec *, int count) {
        most_ranges = std::max(most_ranges, count);
        return 0;
    };
    uint8_t data[12] = {};
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(
        child,
        {bytes(data, 4, READ_ONLY), bytes(data + 4, 4, READ_ONLY), bytes(data + 8, 4, READ_ONLY)},
        3)));
    ASSERT_TRUE(
        succeeds(add_to_cd_via_regen(child, {bytes(data, 12, READ_ONLY)}, 1, count_ranges)));
    ASSERT_TRUE(succeeds(restore_cd(child)));
    EXPECT_EQ(most_ranges, 3);
}

TEST_F(RestorationTypes, ParentToCopyCopiesMemoryNow) {
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(child, {rw(x)}, 1)));
    x = 0x03;
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(x)}, 1)));
    EXPECT_EQ(restored_by_child(), 0x03);
}

TEST_F(RestorationTypes, RegenToCopyCopiesMemoryNow) {
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(child, {ro(x)}, 1, count_and_write_ones)));
    x = 0x03;
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {ro(x)}, 1)));
    EXPECT_EQ(restored_by_child(), 0x03);
    EXPECT_EQ(calls_of_first, 0);
}

// ---- More about changes ------------------------------------------------------------------

TEST_F(RestorationTypes, OnlyTheReaddedPartChanges) {
    uint8_t data[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {bytes(data, 12, READ_ONLY)}, 1)));
    ASSERT_TRUE(succeeds(
        add_to_cd_via_regen(child, {bytes(data + 4, 4, READ_ONLY)}, 1, count_and_write_ones)));
    EXPECT_EQ(info_of(child).entries, 3U);
    EXPECT_EQ(info_of(child).stored_bytes, 8U);
    std::memset(data, 0, sizeof data);
    ASSERT_TRUE(succeeds(restore_cd(child)));
    EXPECT_EQ(data[3], 4);
    EXPECT_EQ(data[4], 0x11);
    EXPECT_EQ(data[7], 0x11);
    EXPECT_EQ(data[8], 9);
}

TEST_F(RestorationTypes, ScopeIsFixedAcrossChangesToo) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {constrained(x)}, 1)));
    EXPECT_TRUE(fails_with(CD_ERROR_SCOPE_FIXED, add_to_cd_via_parent(child, {rw(x)}, 1)));
    EXPECT_TRUE(fails_with(CD_ERROR_SCOPE_FIXED,
                           add_to_cd_via_regen(child, {ro(x)}, 1, count_and_write_ones)));
    EXPECT_EQ(restored_by_child(), 0x02);
}

TEST_F(RestorationTypes, RefusedChangeKeepsTheData) {
    uint8_t elsewhere = 0;
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {ro(x)}, 1)));
    EXPECT_TRUE(
        fails_with(CD_ERROR_NOT_IN_PARENT, add_to_cd_via_parent(child, {ro(x), ro(elsewhere)}, 2)));
    EXPECT_EQ(restored_by_child(), 0x02);
}

TEST_F(RestorationTypes, RegenAddedAgainTakesTheNewFunction) {
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(child, {ro(x)}, 1, count_and_write_ones)));
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(child, {ro(x)}, 1, write_twos)));
    EXPECT_EQ(restored_by_child(), 0x22);
    EXPECT_EQ(calls_of_first, 0);
    EXPECT_EQ(calls_of_second, 1);
}

// ---- PARENT ------------------------------------------------------------------------------

TEST_F(RestorationTypes, ParentEntryKeepsNoData) {
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(child, {rw(x)}, 1)));
    EXPECT_EQ(info_of(child).bytes, 1U);
    EXPECT_EQ(info_of(child).stored_bytes, 0U);
    EXPECT_EQ(restored_by_child(), 0x01);
}

TEST_F(RestorationTypes, ParentDataMayBeInAnyAncestor) {
    const cd_handle grandchild = make_child(child);
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(grandchild, {rw(x)}, 1)));
    x = 0xFF;
    ASSERT_TRUE(succeeds(restore_cd(grandchild)));
    EXPECT_EQ(x, 0x01);
}

TEST_F(RestorationTypes, ParentChainEndsInTheCopy) {
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(child, {rw(x)}, 1)));
    const cd_handle grandchild = make_child(child);
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(grandchild, {rw(x)}, 1)));
    const cd_handle great_grandchild = make_child(grandchild);
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(great_grandchild, {rw(x)}, 1)));
    x = 0xFF;
    ASSERT_TRUE(succeeds(restore_cd(great_grandchild)));
    EXPECT_EQ(x, 0x01);
}

TEST_F(RestorationTypes, NearestCopyWinsAtTheTimeOfTheRestore) {
    const cd_handle grandchild = make_child(child);
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(grandchild, {rw(x)}, 1)));
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(x)}, 1))); // 0x02
    x = 0xFF;
    ASSERT_TRUE(succeeds(restore_cd(grandchild)));
    EXPECT_EQ(x, 0x02);
}

TEST_F(RestorationTypes, ParentBytesMayComeFromDifferentAncestors) {
    uint8_t data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(data, 4)}, 1)));
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {bytes(data + 4, 4)}, 1)));
    const cd_handle grandchild = make_child(child);
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(grandchild, {bytes(data + 2, 4)}, 1)));
    std::memset(data, 0, sizeof data);
    ASSERT_TRUE(succeeds(restore_cd(grandchild)));
    const uint8_t expected[8] = {0, 0, 3, 4, 5, 6, 0, 0};
    EXPECT_EQ(std::memcmp(data, expected, sizeof data), 0);
}

TEST_F(RestorationTypes, ParentWithOneByteThatNoAncestorHoldsIsRefused) {
    uint8_t data[8] = {};
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(data, 7)}, 1)));
    EXPECT_TRUE(
        fails_with(CD_ERROR_NOT_IN_PARENT, add_to_cd_via_parent(child, {bytes(data, 8)}, 1)));
    EXPECT_EQ(info_of(child).bytes, 0U);
}

TEST_F(RestorationTypes, ParentIsNotSearchedInTheCdItself) {
    uint8_t y = 1;
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(y)}, 1)));
    EXPECT_TRUE(fails_with(CD_ERROR_NOT_IN_PARENT, add_to_cd_via_parent(child, {rw(y)}, 1)));
}

TEST_F(RestorationTypes, ParentChainThatEndsInRegenIsRefused) {
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(child, {ro(x)}, 1)));
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(root, {ro(x)}, 1, count_and_write_ones)));
    const cd_handle grandchild = make_child(child);
    EXPECT_TRUE(fails_with(CD_ERROR_PARENT_REGEN, add_to_cd_via_parent(grandchild, {ro(x)}, 1)));
}

TEST_F(RestorationTypes, RegenInANearerAncestorHidesTheCopyBehindIt) {
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(child, {ro(x)}, 1, count_and_write_ones)));
    const cd_handle grandchild = make_child(child);
    EXPECT_TRUE(fails_with(CD_ERROR_PARENT_REGEN, add_to_cd_via_parent(grandchild, {ro(x)}, 1)));
}

TEST_F(RestorationTypes, ParentWhoseCopyWasDeletedFailsTheRestoreBeforeAnythingIsWritten) {
    uint8_t y = 0x05;
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(y)}, 1)));
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(child, {rw(x)}, 1)));
    ASSERT_TRUE(succeeds(delete_from_cd(root, {rw(x)}, 1)));
    x = y = 0xFF;
    EXPECT_TRUE(fails_with(CD_ERROR_NOT_IN_PARENT, restore_cd(child)));
    EXPECT_EQ(x, 0xFF);
    EXPECT_EQ(y, 0xFF);
    ASSERT_TRUE(succeeds(delete_from_cd(child, {rw(x)}, 1)));
    ASSERT_TRUE(succeeds(restore_cd(child)));
    EXPECT_EQ(y, 0x05);
}

TEST_F(RestorationTypes, ParentEntryFollowsItsAncestorsAdvance) {
    const cd_handle grandchild = make_child(child);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(x)}, 1)));
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(grandchild, {rw(x)}, 1)));
    ASSERT_TRUE(succeeds(commit_cd(grandchild)));
    x = 0x09;
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(child)));
    EXPECT_EQ(restored_by_child(), 0x09);
}

// ---- REGEN -------------------------------------------------------------------------------

TEST_F(RestorationTypes, RegenEntryKeepsNoDataAndCallsTheFunctionAtRestoreOnly) {
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(child, {ro(x)}, 1, count_and_write_ones)));
    EXPECT_EQ(info_of(child).stored_bytes, 0U);
    EXPECT_EQ(calls_of_first, 0);
    EXPECT_EQ(restored_by_child(), 0x11);
    EXPECT_EQ(calls_of_first, 1);
    EXPECT_EQ(restored_by_child(), 0x11);
    EXPECT_EQ(calls_of_first, 2);
}

TEST_F(RestorationTypes, ReadWriteRegenIsRefused) {
    uint8_t y = 0;
    EXPECT_TRUE(fails_with(CD_ERROR_REGEN_READ_WRITE,
                           add_to_cd_via_regen(child, {ro(y), rw(x)}, 2, count_and_write_ones)));
    EXPECT_EQ(info_of(child).bytes, 0U);
}

TEST_F(RestorationTypes, ZeroLengthReadWriteRegenDoesNothing) {
    EXPECT_TRUE(
        succeeds(add_to_cd_via_regen(child, {bytes(&x, 0, READ_WRITE)}, 1, count_and_write_ones)));
    EXPECT_EQ(info_of(child).bytes, 0U);
}

TEST_F(RestorationTypes, RegenBytesCannotBePromotedByViaRegen) {
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(child, {ro(x)}, 1, count_and_write_ones)));
    EXPECT_TRUE(fails_with(CD_ERROR_REGEN_READ_WRITE,
                           add_to_cd_via_regen(child, {rw(x)}, 1, count_and_write_ones)));
    EXPECT_EQ(info_of(child).read_write, 0U);
}

} // namespace
