// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "fixture.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

// Order of a restore, and regen functions, which make the order visible.
namespace {

// What the regen functions below see and do. They take no context, so it stands here.
struct World {
    int input = 0;  // what `depends` computes from
    int output = 0; // what `depends` writes
    uint8_t data[64] = {};
    int calls = 0;
    int failures_left = 0;
    bool throws = false;
    cd_handle cd = nullptr;
    std::vector<cd_error> codes_seen_inside;
    std::vector<std::vector<std::pair<size_t, size_t>>> ranges; // per call: offset in data, length
};

World world;

int depends(cd_addrspec *, int) {
    world.output = world.input * 10;
    ++world.calls;
    return 0;
}

int fill(cd_addrspec list[], int count) {
    ++world.calls;
    if (world.failures_left > 0) {
        --world.failures_left;
        if (world.throws)
            throw std::runtime_error("no data");
        return 42;
    }
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

TEST_F(Restore, CdStaysAndCanBeRestoredAgain) {
    int x = 1;
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(x)}, 1)));
    for (int round = 0; round < 3; ++round) {
        x = 99;
        ASSERT_TRUE(succeeds(restore_cd(root)));
        EXPECT_EQ(x, 1);
    }
    EXPECT_EQ(info_of(root).read_write, sizeof x) << "access types stay";
    EXPECT_EQ(info_of(root).epoch, 0U);
}

TEST_F(Restore, EmptyCdRestoresNothing) { EXPECT_TRUE(succeeds(restore_cd(root))); }

TEST_F(Restore, OfAChildLeavesItsAncestorsDataAlone) {
    int x = 1, y = 1;
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(x)}, 1)));
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(y)}, 1)));
    x = y = 2;
    ASSERT_TRUE(succeeds(restore_cd(child)));
    EXPECT_EQ(x, 2);
    EXPECT_EQ(y, 1);
}

TEST_F(Restore, OldestOfThreeGenerationsWinsWhereAllHoldTheByte) {
    int x = 0;
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(x)}, 1)));
    x = 1;
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(x)}, 1)));
    x = 2;
    const cd_handle grandchild = make_child(child);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(grandchild, {rw(x)}, 1)));
    x = 3;
    ASSERT_TRUE(succeeds(restore_cd(grandchild)));
    EXPECT_EQ(x, 2);
    ASSERT_TRUE(succeeds(restore_cd(child)));
    EXPECT_EQ(x, 1);
    EXPECT_TRUE(is_gone(grandchild));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(x, 0);
    EXPECT_TRUE(is_gone(child));
}

TEST_F(Restore, DescendantsAreDiscardedAndTheirEntriesAreNotAdded) {
    int x = 1;
    const cd_handle child = make_child(root);
    const cd_handle grandchild = make_child(child);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(grandchild, {rw(x)}, 1)));
    x = 2;
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(x, 1);
    EXPECT_TRUE(is_gone(child));
    EXPECT_TRUE(is_gone(grandchild));
    EXPECT_EQ(info_of(root).bytes, 0U);
    EXPECT_EQ(info_of(root).children, 0);
}

TEST_F(Restore, OfSiblingsTheOldestWins) {
    int x = 1;
    const cd_handle first = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(first, {ro(x)}, 1)));
    x = 2;
    const cd_handle second = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(second, {ro(x)}, 1)));
    x = 3;
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(x, 1);
}

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
    static size_t copied;
    const auto note = [](const cd_event *event, void *) {
        copied = event->operation == CD_OP_RESTORE ? event->bytes : copied;
    };
    ASSERT_TRUE(succeeds(cd_observe(note, nullptr)));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    ASSERT_TRUE(succeeds(cd_observe(nullptr, nullptr)));
    EXPECT_EQ(memory, expected);
    EXPECT_EQ(copied, static_cast<size_t>(std::ranges::count_if(
                          expected, [](uint8_t value) { return value != nobodys; })));
}

TEST_F(Restore, OfOneSiblingLeavesTheOtherAlone) {
    int x = 1, y = 1;
    const cd_handle first = make_child(root);
    const cd_handle second = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(first, {rw(x)}, 1)));
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(second, {rw(y)}, 1)));
    x = y = 2;
    ASSERT_TRUE(succeeds(restore_cd(first)));
    EXPECT_EQ(x, 1);
    EXPECT_EQ(y, 2);
    EXPECT_EQ(info_of(second).bytes, sizeof y);
}

TEST_F(Restore, OfAnAncestorLeavesConstrainedBytesAlone) {
    int held_by_root = 1;
    int copied = 2;
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(held_by_root)}, 1)));
    const cd_handle middle = make_child(root);
    const cd_handle leaf = make_child(middle);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(leaf, {constrained(copied)}, 1)));
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(leaf, {constrained(held_by_root)}, 1)));
    ASSERT_TRUE(succeeds(
        add_to_cd_via_regen(leaf, {bytes(world.data, 4, READ_ONLY, CONSTRAINED)}, 1, fill)));

    held_by_root = copied = 7;
    ASSERT_TRUE(succeeds(restore_cd(leaf)));
    EXPECT_EQ(held_by_root, 1);
    EXPECT_EQ(copied, 2);
    EXPECT_EQ(world.data[0], 0xF1);

    held_by_root = copied = world.data[0] = 7;
    ASSERT_TRUE(succeeds(restore_cd(middle)));
    EXPECT_EQ(held_by_root, 7);
    EXPECT_EQ(copied, 7);
    EXPECT_EQ(world.data[0], 7);
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(held_by_root, 1);
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

// ---- Regen functions ---------------------------------------------------------------------

TEST_F(Restore, RegenSeesWhatWasCopiedBefore) {
    world.input = 4;
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(root, {ro(world.output)}, 1, depends)));
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(world.input)}, 1)));
    world.input = 9;
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(world.output, 40);
}

TEST_F(Restore, RegenSeesWhatCameFromTheParentBefore) {
    world.input = 4;
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(world.input)}, 1)));
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(child, {ro(world.output)}, 1, depends)));
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(child, {rw(world.input)}, 1)));
    world.input = 9;
    ASSERT_TRUE(succeeds(restore_cd(child)));
    EXPECT_EQ(world.output, 40);
}

TEST_F(Restore, RegenOfADescendantSeesTheDescendantsDataNotTheOlderOnes) {
    world.input = 1;
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(world.input)}, 1)));
    world.input = 2;
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(world.input)}, 1)));
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(child, {ro(world.output)}, 1, depends)));
    world.input = 3;
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(world.output, 20) << "computed from the child's input";
    EXPECT_EQ(world.input, 1) << "which the root's then replaced";
}

TEST_F(Restore, WhatADescendantsRegenMaySeeIsCopiedThoughAnOlderCdWritesIt) {
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(world.data, 8)}, 1)));
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {bytes(world.data, 16)}, 1)));
    ASSERT_TRUE(
        succeeds(add_to_cd_via_regen(child, {bytes(world.data + 32, 8, READ_ONLY)}, 1, fill)));
    EXPECT_EQ(copied_by_restore_of(root), 24U);
}

TEST_F(Restore, RegenOfAnOlderCdWinsOverADescendantsCopy) {
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(root, {bytes(world.data, 8, READ_ONLY)}, 1, fill)));
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {bytes(world.data, 16)}, 1)));
    std::memset(world.data, 5, sizeof world.data);
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(world.data[7], 0xF1);
    EXPECT_EQ(world.data[8], 0);
    EXPECT_EQ(world.data[16], 5);
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

TEST_F(Restore, FailingRegenFailsTheCallSaysTheRangeAndTheCdCanBeRestoredAgain) {
    int x = 1;
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(x)}, 1)));
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(child, {bytes(world.data, 12, READ_ONLY)}, 1, fill)));
    world.failures_left = 1;
    x = 2;
    EXPECT_TRUE(fails_with(CD_ERROR_REGEN_FAILED, restore_cd(root)));
    char address[32];
    std::snprintf(address, sizeof address, "%p", static_cast<void *>(world.data));
    EXPECT_NE(last_message().find(address), std::string::npos) << last_message();
    EXPECT_NE(last_message().find("12 bytes"), std::string::npos) << last_message();
    EXPECT_NE(last_message().find("42"), std::string::npos) << last_message();
    EXPECT_EQ(info_of(child).bytes, 12U) << "descendants stay";

    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(x, 1);
    EXPECT_EQ(world.data[0], 0xF1);
    EXPECT_TRUE(is_gone(child));
}

TEST_F(Restore, ThrowingRegenFailsTheCallLikeAFailingOne) {
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(root, {bytes(world.data, 12, READ_ONLY)}, 1, fill)));
    world.failures_left = 1;
    world.throws = true;
    EXPECT_TRUE(fails_with(CD_ERROR_REGEN_FAILED, restore_cd(root)));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(world.data[11], 0xF1);
}

TEST_F(Restore, EveryCallFromInsideARegenIsRefused) {
    int x = 0;
    world.cd = root;
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(root, {ro(x)}, 1, call_everything)));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(world.codes_seen_inside.size(), 14U);
    for (const cd_error code : world.codes_seen_inside)
        EXPECT_EQ(code, CD_ERROR_IN_CALLBACK);
    EXPECT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(world.input)}, 1)))
        << "afterwards all is as before";
}

TEST_F(Restore, FailedRestoreLeavesTheMpiLogLive) {
    const cd_handle logging = make_root(COMM_LOGGING_ENABLED, nullptr, "logging");
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(logging, {bytes(world.data, 4, READ_ONLY)}, 1, fill)));
    const cd_log_part part = {"entry", 5};
    ASSERT_TRUE(succeeds(cd_log_append(logging, &part, 1)));
    world.failures_left = 1;
    EXPECT_TRUE(fails_with(CD_ERROR_REGEN_FAILED, restore_cd(logging)));
    EXPECT_EQ(info_of(logging).replaying, 0);
    EXPECT_TRUE(succeeds(cd_log_append(logging, &part, 1)));
}

} // namespace
