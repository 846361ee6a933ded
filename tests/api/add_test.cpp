// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "fixture.h"

#include <array>
#include <numeric>

// The add calls: their forms, overlaps, and changes of the restoration type.
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

    // Restores, and returns what that writes to memory; 0 for bytes that it leaves alone.
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

// ---- The table "Consequences of Changing Restoration Type" --------------------------------

int regenerate(cd_addrspec list[], int) {
    *static_cast<uint8_t *>(list[0].address) = 3;
    return 0;
}

TEST_F(Add, AChangeOfTheRestorationTypeDecidesWhatIsRestoredAndStored) {
    enum Type { copy, parent, regen };
    struct Row {
        Type first;
        Type second;
        int restored;
        size_t stored;
    };
    const Row rows[] = {{parent, regen, 3, 0}, {regen, parent, 1, 0}, {copy, parent, 1, 0},
                        {copy, regen, 3, 0},   {parent, copy, 2, 1},  {regen, copy, 2, 1}};
    uint8_t x = 1;
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(x)}, 1)));
    for (const Row &row : rows) {
        SCOPED_TRACE(testing::Message() << row.first << " to " << row.second);
        const cd_handle child = make_child(root);
        const auto add = [&](Type type) {
            return type == copy     ? add_to_cd_via_copy(child, {ro(x)}, 1)
                   : type == parent ? add_to_cd_via_parent(child, {ro(x)}, 1)
                                    : add_to_cd_via_regen(child, {ro(x)}, 1, regenerate);
        };
        x = 9;
        ASSERT_TRUE(succeeds(add(row.first)));
        EXPECT_EQ(info_of(child).stored_bytes, row.first == copy ? 1U : 0U);
        x = 2;
        ASSERT_TRUE(succeeds(add(row.second)));
        EXPECT_EQ(info_of(child).stored_bytes, row.stored);
        x = 9;
        ASSERT_TRUE(succeeds(restore_cd(child)));
        EXPECT_EQ(x, row.restored);
        ASSERT_TRUE(succeeds(delete_from_cd(child, {ro(x)}, 1)));
        EXPECT_EQ(info_of(child).stored_bytes, 0U);
        ASSERT_TRUE(succeeds(commit_cd(child)));
    }
}

TEST_F(Add, CopyToRegenGivesTheFunctionEachRangeAsItWasAdded) {
    static int most_ranges;
    most_ranges = 0;
    const auto count_ranges = [](cd_addrspec *, int count) {
        most_ranges = std::max(most_ranges, count);
        return 0;
    };
    ASSERT_TRUE(succeeds(
        add_to_cd_via_copy(root,
                           {bytes(&memory[0], 4, READ_ONLY), bytes(&memory[4], 4, READ_ONLY),
                            bytes(&memory[8], 4, READ_ONLY)},
                           3)));
    ASSERT_TRUE(
        succeeds(add_to_cd_via_regen(root, {bytes(&memory[0], 12, READ_ONLY)}, 1, count_ranges)));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(most_ranges, 3);
}

} // namespace
