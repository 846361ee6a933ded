// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "fixture.h"

#include <array>
#include <numeric>

// add_to_cd_via_copy: call forms, overlaps, labels. The other two add calls are in
// restoration_types_test.cpp.
namespace {

int write_sevens(cd_addrspec list[], int count) {
    for (int i = 0; i < count; ++i) {
        std::memset(list[i].address, 7, list[i].length);
    }
    return 0;
}

class Add : public CdTest {
protected:
    void SetUp() override {
        CdTest::SetUp();
        std::iota(memory.begin(), memory.end(), uint8_t{1});
        root = make_root();
    }

    // What a restore writes to memory; 0 for bytes that it leaves alone.
    std::array<uint8_t, 32> restored() {
        memory.fill(0);
        EXPECT_TRUE(succeeds(restore_cd(root)));
        return memory;
    }

    std::array<uint8_t, 32> memory;
    cd_handle root;
};

TEST_F(Add, AcceptsEveryCallFormOfTheSeedInCpp) {
    int x = 1, y = 2;
    cd_addrspec list[2] = {{&x, sizeof(x), READ_WRITE, GLOBAL}, {&y, sizeof(y), READ_ONLY, GLOBAL}};
    cd_addrspec one = {&x, sizeof(x), READ_WRITE, GLOBAL};
    char storage_text[] = "shadow=full"; // the seed declares storage_info as char *
    char *storage_info = storage_text;
    EXPECT_TRUE(succeeds(add_to_cd_via_copy(root, list, 2)));
    EXPECT_TRUE(succeeds(add_to_cd_via_copy(root, list, 2, nullptr)));
    EXPECT_TRUE(succeeds(add_to_cd_via_copy(root, list, 2, storage_info)));
    EXPECT_TRUE(succeeds(add_to_cd_via_copy(root, &one, 1)));
    EXPECT_TRUE(succeeds(add_to_cd_via_copy(root, one, 1)));
    EXPECT_TRUE(succeeds(add_to_cd_via_copy(root, one, 1, storage_info)));
    EXPECT_TRUE(succeeds(add_to_cd_via_copy(root, {&x, sizeof(x), READ_WRITE, GLOBAL}, 1)));
    EXPECT_TRUE(
        succeeds(add_to_cd_via_copy(root, {&x, sizeof(x), READ_WRITE, GLOBAL}, 1, nullptr)));
    EXPECT_TRUE(succeeds(add_to_cd_via_copy(root, {{&x, sizeof(x), READ_WRITE, GLOBAL}}, 1)));
    EXPECT_TRUE(succeeds(add_to_cd_via_copy(
        root, {{&x, sizeof(x), READ_WRITE, GLOBAL}, {&y, sizeof(y), READ_ONLY, GLOBAL}}, 2,
        nullptr)));

    const cd_handle child = make_child(root);
    EXPECT_TRUE(succeeds(add_to_cd_via_parent(child, list, 2)));
    EXPECT_TRUE(succeeds(add_to_cd_via_parent(child, list, 2, storage_info)));
    EXPECT_TRUE(succeeds(add_to_cd_via_parent(child, one, 1)));
    EXPECT_TRUE(succeeds(add_to_cd_via_parent(child, {&x, sizeof(x), READ_WRITE, GLOBAL}, 1)));
    EXPECT_TRUE(succeeds(add_to_cd_via_parent(
        child, {{&x, sizeof(x), READ_WRITE, GLOBAL}, {&y, sizeof(y), READ_ONLY, GLOBAL}}, 2)));

    cd_addrspec read_only = {&y, sizeof(y), READ_ONLY, GLOBAL};
    EXPECT_TRUE(succeeds(add_to_cd_via_regen(root, &read_only, 1, write_sevens)));
    EXPECT_TRUE(succeeds(add_to_cd_via_regen(root, &read_only, 1, nullptr, write_sevens)));
    EXPECT_TRUE(succeeds(add_to_cd_via_regen(root, &read_only, 1, storage_info, write_sevens)));
    EXPECT_TRUE(succeeds(add_to_cd_via_regen(root, read_only, 1, write_sevens)));
    EXPECT_TRUE(succeeds(add_to_cd_via_regen(root, read_only, 1, nullptr, write_sevens)));
    EXPECT_TRUE(
        succeeds(add_to_cd_via_regen(root, {&y, sizeof(y), READ_ONLY, GLOBAL}, 1, write_sevens)));
    EXPECT_TRUE(succeeds(
        add_to_cd_via_regen(root, {{&y, sizeof(y), READ_ONLY, GLOBAL}}, 1, nullptr, write_sevens)));

    EXPECT_TRUE(succeeds(delete_from_cd(root, list, 1)));
    EXPECT_TRUE(succeeds(delete_from_cd(root, {&y, sizeof(y), READ_WRITE, GLOBAL}, 1)));
    EXPECT_EQ(info_of(root).bytes, 0U);
}

TEST_F(Add, CountLargerThanABracedListIsRefused) {
    int x = 1;
    EXPECT_TRUE(fails_with(CD_ERROR_NULL_LIST, add_to_cd_via_copy(root, {rw(x)}, 2)));
    EXPECT_TRUE(fails_with(CD_ERROR_NULL_LIST, add_to_cd_via_copy(root, {rw(x), rw(x)}, 3)));
    EXPECT_EQ(info_of(root).bytes, 0U);
}

TEST_F(Add, CountSmallerThanTheListUsesItsBeginning) {
    ASSERT_TRUE(
        succeeds(add_to_cd_via_copy(root, {bytes(&memory[0], 4), bytes(&memory[8], 4)}, 1)));
    EXPECT_EQ(info_of(root).bytes, 4U);
}

TEST_F(Add, CopiesMemoryAsItIsAtTheTimeOfTheCall) {
    int x = 5;
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(x)}, 1)));
    x = 6;
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(x, 5);
}

TEST_F(Add, DoesNotChangeMemory) {
    const auto before = memory;
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(memory)}, 1)));
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    EXPECT_EQ(memory, before);
}

// The diagram under "Rules for adding data to CDs": 0-10 holds 1's, then 5-15 is added as 2's.
TEST_F(Add, OverlapIsNotOverwritten) {
    std::fill_n(memory.begin(), 15, uint8_t{1});
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(&memory[0], 10)}, 1)));
    std::fill_n(memory.begin() + 5, 10, uint8_t{2});
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(&memory[5], 10)}, 1)));
    EXPECT_EQ(info_of(root).bytes, 15U);
    EXPECT_EQ(info_of(root).entries, 2U);
    const auto result = restored();
    for (size_t i = 0; i < 15; ++i) {
        EXPECT_EQ(result[i], i < 10 ? 1 : 2) << i;
    }
    EXPECT_EQ(result[15], 0);
}

TEST_F(Add, GapsBetweenHeldPiecesAreFilled) {
    ASSERT_TRUE(
        succeeds(add_to_cd_via_copy(root, {bytes(&memory[4], 2), bytes(&memory[8], 2)}, 2)));
    memory.fill(9);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(&memory[2], 10)}, 1)));
    EXPECT_EQ(info_of(root).bytes, 10U);
    EXPECT_EQ(info_of(root).entries, 5U);
    const auto result = restored();
    const std::array<uint8_t, 12> expected = {0, 0, 9, 9, 5, 6, 9, 9, 9, 10, 9, 9};
    for (size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(result[i], expected[i]) << i;
    }
}

TEST_F(Add, ElementsOfOneListOverlapLikeSeparateCalls) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(
        root, {bytes(&memory[8], 8, READ_WRITE), bytes(&memory[4], 8, READ_ONLY)}, 2)));
    const cd_info info = info_of(root);
    EXPECT_EQ(info.bytes, 12U);
    EXPECT_EQ(info.read_write, 4U) << "the later element demotes what the two share";
    EXPECT_EQ(info.entries, 3U);
}

TEST_F(Add, ReaddingPromotesWithoutCopying) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(&memory[0], 8, READ_ONLY)}, 1)));
    EXPECT_EQ(info_of(root).read_write, 0U);
    memory[0] = 99;
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(&memory[0], 8, READ_WRITE)}, 1)));
    EXPECT_EQ(info_of(root).read_write, 8U);
    EXPECT_EQ(info_of(root).entries, 1U);
    EXPECT_EQ(restored()[0], 1);
}

TEST_F(Add, OnlyTheReaddedPortionIsPromoted) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(&memory[0], 16, READ_ONLY)}, 1)));
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(&memory[4], 3, READ_WRITE)}, 1)));
    EXPECT_EQ(info_of(root).read_write, 3U);
    EXPECT_EQ(info_of(root).entries, 3U);
    memory.fill(50);
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    const auto result = restored();
    for (size_t i = 0; i < 16; ++i) {
        EXPECT_EQ(result[i], i >= 4 && i < 7 ? 50 : i + 1) << i;
    }
    EXPECT_EQ(info_of(root).entries, 1U) << "the pieces are alike again";
}

TEST_F(Add, ReaddingAsReadOnlyDemotes) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(&memory[0], 8, READ_WRITE)}, 1)));
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(&memory[2], 4, READ_ONLY)}, 1)));
    EXPECT_EQ(info_of(root).read_write, 4U);
    memory.fill(50);
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    const auto result = restored();
    for (size_t i = 0; i < 8; ++i) {
        EXPECT_EQ(result[i], i >= 2 && i < 6 ? i + 1 : 50) << i;
    }
}

TEST_F(Add, ScopeOfHeldBytesIsFixed) {
    ASSERT_TRUE(
        succeeds(add_to_cd_via_copy(root, {bytes(&memory[4], 4, READ_ONLY, CONSTRAINED)}, 1)));
    EXPECT_TRUE(fails_with(CD_ERROR_SCOPE_FIXED,
                           add_to_cd_via_copy(root, {bytes(&memory[0], 8, READ_WRITE)}, 1)));
    const cd_info info = info_of(root);
    EXPECT_EQ(info.bytes, 4U) << "nothing of a refused call is added";
    EXPECT_EQ(info.read_write, 0U) << "nothing of a refused call is promoted";
}

TEST_F(Add, ScopeIsChangedByDeletingAndAddingAgain) {
    ASSERT_TRUE(
        succeeds(add_to_cd_via_copy(root, {bytes(&memory[0], 8, READ_WRITE, CONSTRAINED)}, 1)));
    ASSERT_TRUE(succeeds(delete_from_cd(root, {bytes(&memory[0], 8)}, 1)));
    EXPECT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(&memory[0], 8)}, 1)));
}

TEST_F(Add, IsAllOrNothing) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(&memory[0], 4, READ_ONLY)}, 1)));
    EXPECT_TRUE(
        fails_with(CD_ERROR_NULL_ADDRESS,
                   add_to_cd_via_copy(
                       root, {bytes(&memory[0], 4), bytes(&memory[8], 4), bytes(nullptr, 4)}, 3)));
    const cd_info info = info_of(root);
    EXPECT_EQ(info.bytes, 4U);
    EXPECT_EQ(info.read_write, 0U);
}

TEST_F(Add, ZeroLengthIsLegalAndDoesNothing) {
    EXPECT_TRUE(succeeds(add_to_cd_via_copy(
        root, {bytes(&memory[4], 0), bytes(nullptr, 0), bytes(reinterpret_cast<void *>(~0UL), 0)},
        3)));
    EXPECT_TRUE(succeeds(add_to_cd_via_copy(root, nullptr, 0, nullptr)));
    EXPECT_EQ(info_of(root).entries, 0U);
}

TEST_F(Add, AdjacentElementsAreDifferentEntries) {
    ASSERT_TRUE(
        succeeds(add_to_cd_via_copy(root, {bytes(&memory[0], 4), bytes(&memory[4], 4)}, 2)));
    EXPECT_EQ(info_of(root).entries, 2U);
    memory.fill(50);
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    EXPECT_EQ(info_of(root).entries, 2U);
    EXPECT_EQ(info_of(root).bytes, 8U);
}

TEST_F(Add, SingleBytesAtAnyAlignmentWork) {
    for (size_t i = 1; i < memory.size(); i += 2) {
        ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(&memory[i], 1)}, 1)));
    }
    EXPECT_EQ(info_of(root).entries, 16U);
    const auto result = restored();
    for (size_t i = 0; i < memory.size(); ++i) {
        EXPECT_EQ(result[i], i % 2 == 1 ? i + 1 : 0) << i;
    }
}

TEST_F(Add, CurrentCdIsTheActiveOne) {
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(CURRENT_CD, {bytes(&memory[0], 4)}, 1)));
    EXPECT_EQ(info_of(child).bytes, 4U);
    EXPECT_EQ(info_of(root).bytes, 0U);
}

TEST_F(Add, StorageInfoOfTheCallIsChecked) {
    EXPECT_TRUE(fails_with(CD_ERROR_STORAGE_KEY,
                           add_to_cd_via_copy(root, {bytes(&memory[0], 4)}, 1, "colour=red")));
    EXPECT_TRUE(fails_with(CD_ERROR_STORAGE_VALUE,
                           add_to_cd_via_copy(root, {bytes(&memory[0], 4)}, 1, "shadow=maybe")));
    EXPECT_TRUE(fails_with(CD_ERROR_STORAGE_SYNTAX,
                           add_to_cd_via_copy(root, {bytes(&memory[0], 4)}, 1, "shadow")));
    for (const char *elsewhere : {"store=file", "dir=/other", "keep=2", "log_limit=1M"}) {
        EXPECT_TRUE(fails_with(CD_ERROR_STORAGE_UNSUPPORTED,
                               add_to_cd_via_copy(root, {bytes(&memory[0], 4)}, 1, elsewhere)))
            << elsewhere;
    }
    EXPECT_EQ(info_of(root).bytes, 0U);
}

// Each way of keeping the data must give the same results.
class AddWithStorage : public Add, public testing::WithParamInterface<const char *> {};

TEST_P(AddWithStorage, DataSurviveSplitsAdvancesAndRestores) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(memory)}, 1, GetParam())));
    for (int round = 0; round < 3; ++round) {
        memory.fill(static_cast<uint8_t>(100 + round));
        ASSERT_TRUE(
            succeeds(add_to_cd_via_copy(root, {bytes(&memory[3], 5), bytes(&memory[20], 7)}, 2)));
        ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
        const auto result = restored();
        EXPECT_EQ(result[0], 100) << "demoted by the first advance and never promoted again";
        EXPECT_EQ(result[4], 100 + round);
        EXPECT_EQ(result[26], 100 + round);
        EXPECT_EQ(result[27], 100);
    }
}

INSTANTIATE_TEST_SUITE_P(Storage, AddWithStorage,
                         testing::Values(nullptr, "shadow=full", "shadow=none", "checksum=crc32c",
                                         "shadow=none,checksum=crc32c"));

} // namespace
