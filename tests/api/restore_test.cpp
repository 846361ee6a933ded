// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "fixture.h"

#include <algorithm>
#include <utility>

// How much a restore copies, and what it calls regen functions with.
namespace {

// The state of the regen functions below, which take no context.
struct World {
    uint8_t data[64] = {};
    cd_handle cd = nullptr;
    std::vector<cd_error> codes_seen_inside;
    std::vector<std::vector<std::pair<size_t, size_t>>> ranges; // per call: offset in data, length
};

World world;

int fill(cd_addrspec list[], int count) {
    std::vector<std::pair<size_t, size_t>> ranges;
    for (int i = 0; i < count; ++i) {
        std::memset(list[i].address, 0xF1, list[i].length);
        ranges.emplace_back(static_cast<uint8_t *>(list[i].address) - world.data, list[i].length);
    }
    std::sort(ranges.begin(), ranges.end());
    world.ranges.push_back(ranges);
    return 0;
}

int fill_otherwise(cd_addrspec list[], int count) {
    for (int i = 0; i < count; ++i)
        std::memset(list[i].address, 0xF2, list[i].length);
    return 0;
}

int call_everything(cd_addrspec *, int) {
    int x = 0;
    cd_info info;
    const auto note = [](int result) {
        world.codes_seen_inside.push_back(result == SUCCESS ? CD_ERROR_NONE : cd_last_error());
    };
    note(add_to_cd_via_copy(world.cd, {rw(x)}, 1));
    note(delete_from_cd(world.cd, {rw(x)}, 1));
    note(commit_cd(world.cd));
    note(restore_cd(world.cd));
    note(advance_cd_point_in_time(world.cd));
    note(add_file_to_cd(world.cd, 0));
    note(delete_file_from_cd(world.cd, 0));
    note(cd_query(world.cd, &info));
    note(cd_verify(world.cd, nullptr, nullptr));
    note(cd_observe(nullptr, nullptr));
    note(delete_MPI_log_from_cd(world.cd));
    note(cd_name(world.cd) != nullptr ? SUCCESS : FAILURE);
    note(create_cd(world.cd, nullptr, MPI_LOGGING_INHERIT, nullptr, nullptr) != nullptr ? SUCCESS
                                                                                        : FAILURE);
    note(get_MPI_log_from_cd(world.cd, nullptr) != nullptr ? SUCCESS : FAILURE);
    return 0;
}

class Restore : public CdTest {
protected:
    void SetUp() override {
        CdTest::SetUp();
        world = World{};
        root = make_root();
    }

    void TearDown() override {
        cd_observe(nullptr, nullptr);
        CdTest::TearDown();
    }

    // How many bytes the restore copies.
    static size_t copied_by_restore_of(cd_handle cd) {
        size_t copied = 0;
        const auto note = [](const cd_event *event, void *context) {
            if (event->operation == CD_OP_RESTORE)
                *static_cast<size_t *>(context) = event->bytes;
        };
        EXPECT_TRUE(succeeds(cd_observe(note, &copied)));
        EXPECT_TRUE(succeeds(restore_cd(cd)));
        EXPECT_TRUE(succeeds(cd_observe(nullptr, nullptr)));
        return copied;
    }

    cd_handle root;
};

TEST_F(Restore, OfManySiblingsTheOldestWinsAndEachByteIsCopiedOnce) {
    constexpr uint8_t nobodys = 0;
    std::vector<uint8_t> memory(300);
    std::vector<uint8_t> expected(memory.size(), nobodys);
    for (uint8_t sibling = 1; sibling <= 60; ++sibling) {
        const cd_handle child = make_child(root);
        const cd_handle holder = sibling % 7 == 0 ? make_child(child) : child;
        std::fill(memory.begin(), memory.end(), sibling);
        for (const size_t first : {sibling * 37 % 283, sibling * 101 % 283}) {
            const size_t length = 1 + sibling * 13 % 17;
            const bool stays = sibling % 5 == 0; // and is not restored
            ASSERT_TRUE(succeeds(add_to_cd_via_copy(
                holder, {bytes(&memory[first], length, READ_WRITE, stays ? CONSTRAINED : GLOBAL)},
                1)));
            for (size_t at = first; !stays && at < first + length; ++at) {
                // CDs of the same depth are restored newest first, after what is deeper.
                const bool deeper = holder != child;
                uint8_t &value = expected[at];
                value = value == nobodys || (!deeper && value % 7 == 0) ? sibling : value;
            }
        }
    }
    std::fill(memory.begin(), memory.end(), nobodys);
    const size_t copied = copied_by_restore_of(root);
    EXPECT_EQ(memory, expected);
    EXPECT_EQ(copied, static_cast<size_t>(std::ranges::count_if(
                          expected, [](uint8_t value) { return value != nobodys; })));
}

TEST_F(Restore, WhatAnOlderCdWritesAnywayIsNotCopied) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(world.data + 4, 8)}, 1)));
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {bytes(world.data, 16)}, 1)));
    const cd_handle grandchild = make_child(child);
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(grandchild, {bytes(world.data, 16)}, 1)));
    std::memset(world.data, 5, sizeof world.data);
    EXPECT_EQ(copied_by_restore_of(root), 16U) << "8 of the root's, 8 of the child's";
    EXPECT_EQ(world.data[0] + world.data[4] + world.data[15], 0);
}

TEST_F(Restore, WhatADescendantsRegenMaySeeIsCopiedThoughAnOlderCdWritesIt) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(world.data, 8)}, 1)));
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {bytes(world.data, 16)}, 1)));
    ASSERT_TRUE(
        succeeds(add_to_cd_via_regen(child, {bytes(world.data + 32, 8, READ_ONLY)}, 1, fill)));
    EXPECT_EQ(copied_by_restore_of(root), 24U);
}

TEST_F(Restore, RegenIsCalledOncePerAddCallWithAllItsRanges) {
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(
        root, {bytes(world.data, 4, READ_ONLY), bytes(world.data + 8, 4, READ_ONLY)}, 2, fill)));
    ASSERT_TRUE(
        succeeds(add_to_cd_via_regen(root, {bytes(world.data + 32, 4, READ_ONLY)}, 1, fill)));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    ASSERT_EQ(world.ranges.size(), 2U);
    std::sort(world.ranges.begin(), world.ranges.end());
    using Ranges = std::vector<std::pair<size_t, size_t>>;
    EXPECT_EQ(world.ranges[0], (Ranges{{0, 4}, {8, 4}}));
    EXPECT_EQ(world.ranges[1], (Ranges{{32, 4}}));
}

TEST_F(Restore, RegenGetsOnlyTheRangesThatAreStillRegenerated) {
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(root, {bytes(world.data, 16, READ_ONLY)}, 1, fill)));
    ASSERT_TRUE(succeeds(delete_from_cd(root, {bytes(world.data, 2)}, 1)));
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(world.data + 6, 2)}, 1)));
    ASSERT_TRUE(succeeds(
        add_to_cd_via_regen(root, {bytes(world.data + 10, 2, READ_ONLY)}, 1, fill_otherwise)));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    ASSERT_EQ(world.ranges.size(), 1U);
    using Ranges = std::vector<std::pair<size_t, size_t>>;
    EXPECT_EQ(world.ranges[0], (Ranges{{2, 4}, {8, 2}, {12, 4}}));
    EXPECT_EQ(world.data[10], 0xF2);
}

TEST_F(Restore, RegenGetsReadOnlyRangesWithTheirScope) {
    const auto regen = [](cd_addrspec list[], int count) {
        return count == 1 && list[0].addr_tp == READ_ONLY && list[0].addr_scope == CONSTRAINED ? 0
                                                                                               : 1;
    };
    ASSERT_TRUE(succeeds(
        add_to_cd_via_regen(root, {bytes(world.data, 4, READ_ONLY, CONSTRAINED)}, 1, regen)));
    EXPECT_TRUE(succeeds(restore_cd(root)));
}

TEST_F(Restore, EveryCallFromInsideARegenIsRefused) {
    int x = 0;
    world.cd = root;
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(root, {ro(x)}, 1, call_everything)));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(world.codes_seen_inside.size(), 14U);
    for (const cd_error code : world.codes_seen_inside)
        EXPECT_EQ(code, CD_ERROR_IN_CALLBACK);
    EXPECT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(world.data)}, 1)))
        << "afterwards all is as before";
}

} // namespace
