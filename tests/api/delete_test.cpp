// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "fixture.h"

#include <array>

namespace {

class Delete : public CdTest {
protected:
    void SetUp() override {
        CdTest::SetUp();
        memory.fill(1);
        root = make_root();
        ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(memory)}, 1)));
    }

    std::array<uint8_t, 16> memory;
    cd_handle root;
};

TEST_F(Delete, DeletedBytesAreNotRestored) {
    ASSERT_TRUE(succeeds(delete_from_cd(root, {rw(memory)}, 1)));
    EXPECT_EQ(info_of(root).entries, 0U);
    EXPECT_EQ(info_of(root).stored_bytes, 0U);
    memory.fill(2);
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(memory[0], 2);
}

TEST_F(Delete, MiddleOfAnEntrySplitsIt) {
    ASSERT_TRUE(succeeds(delete_from_cd(root, {bytes(&memory[4], 4)}, 1)));
    EXPECT_EQ(info_of(root).entries, 2U);
    EXPECT_EQ(info_of(root).bytes, 12U);
    memory.fill(2);
    ASSERT_TRUE(succeeds(restore_cd(root)));
    for (size_t i = 0; i < 16; ++i)
        EXPECT_EQ(memory[i], i >= 4 && i < 8 ? 2 : 1) << i;
}

TEST_F(Delete, MaySpanSeveralEntries) {
    std::array<uint8_t, 16> other{};
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(
        child, {bytes(&other[0], 5), bytes(&other[5], 5, READ_ONLY), bytes(&other[10], 6)}, 3)));
    ASSERT_TRUE(succeeds(delete_from_cd(child, {bytes(&other[3], 9)}, 1)));
    EXPECT_EQ(info_of(child).bytes, 7U);
    EXPECT_EQ(info_of(child).entries, 2U);
}

TEST_F(Delete, AbsentByteIsAnErrorAndNothingIsDeleted) {
    uint8_t elsewhere = 0;
    EXPECT_TRUE(fails_with(CD_ERROR_NOT_IN_CD,
                           delete_from_cd(root, {bytes(&memory[0], 4), ro(elsewhere)}, 2)));
    EXPECT_EQ(info_of(root).bytes, 16U);
    EXPECT_EQ(info_of(root).entries, 1U);
}

TEST_F(Delete, TheSameRangeTwiceInOneListIsAnErrorAndNothingIsDeleted) {
    EXPECT_TRUE(fails_with(CD_ERROR_NOT_IN_CD,
                           delete_from_cd(root, {bytes(&memory[0], 8), bytes(&memory[4], 8)}, 2)));
    EXPECT_EQ(info_of(root).bytes, 16U);
    ASSERT_TRUE(succeeds(delete_from_cd(root, {bytes(&memory[0], 16)}, 1)));
    EXPECT_EQ(info_of(root).bytes, 0U);
}

TEST_F(Delete, RefusedDeleteLeavesTheBytesToCommitAndAdvance) {
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(memory.data(), 16, READ_ONLY)}, 1)));
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(memory)}, 1)));
    EXPECT_TRUE(fails_with(CD_ERROR_NOT_IN_CD,
                           delete_from_cd(child, {bytes(&memory[0], 8), bytes(&memory[4], 8)}, 2)));
    ASSERT_TRUE(succeeds(commit_cd(child)));
    EXPECT_EQ(info_of(root).read_write, 16U);
}

TEST_F(Delete, OnlyTheCdItselfIsSearched) {
    const cd_handle child = make_child(root);
    EXPECT_TRUE(fails_with(CD_ERROR_NOT_IN_CD, delete_from_cd(child, {rw(memory)}, 1)));
    uint8_t y = 0;
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(y)}, 1)));
    EXPECT_TRUE(fails_with(CD_ERROR_NOT_IN_CD, delete_from_cd(root, {rw(y)}, 1)));
    EXPECT_EQ(info_of(root).bytes, 16U);
    EXPECT_EQ(info_of(child).bytes, 1U);
}

TEST_F(Delete, TypeAndScopeInTheListDoNotMatter) {
    ASSERT_TRUE(succeeds(delete_from_cd(root, {bytes(&memory[0], 8, READ_ONLY, CONSTRAINED)}, 1)));
    EXPECT_EQ(info_of(root).bytes, 8U);
}

TEST_F(Delete, LastEntryDoesNotTakeTheCdWithIt) {
    ASSERT_TRUE(succeeds(delete_from_cd(root, {rw(memory)}, 1)));
    EXPECT_EQ(info_of(root).bytes, 0U);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(memory)}, 1)));
}

TEST_F(Delete, BytesCanBeAddedAgainWithTheirNewValue) {
    memory.fill(7);
    ASSERT_TRUE(succeeds(delete_from_cd(root, {bytes(&memory[0], 8)}, 1)));
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(memory)}, 1)));
    memory.fill(0);
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(memory[0], 7);
    EXPECT_EQ(memory[8], 1);
}

TEST_F(Delete, ZeroLengthIsLegalAndDoesNothing) {
    EXPECT_TRUE(succeeds(delete_from_cd(root, {bytes(nullptr, 0), bytes(&memory[4], 0)}, 2)));
    EXPECT_TRUE(succeeds(delete_from_cd(root, static_cast<const cd_addrspec *>(nullptr), 0)));
    EXPECT_EQ(info_of(root).entries, 1U);
    EXPECT_EQ(info_of(root).bytes, 16U);
}

TEST_F(Delete, EveryRestorationTypeCanBeDeleted) {
    const cd_handle child = make_child(root);
    const auto regen = [](cd_addrspec *, int) { return 1; };
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(child, {bytes(&memory[0], 8)}, 1)));
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(child, {bytes(&memory[8], 8, READ_ONLY)}, 1, regen)));
    ASSERT_TRUE(succeeds(delete_from_cd(child, {rw(memory)}, 1)));
    EXPECT_EQ(info_of(child).bytes, 0U);
    EXPECT_TRUE(succeeds(restore_cd(child))) << "the function is not called any more";
}

} // namespace
