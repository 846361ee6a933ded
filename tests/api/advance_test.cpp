// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "fixture.h"

namespace {

// How many bytes the last advance copied.
void note_advance(const cd_event *event, void *context) {
    if (event->operation == CD_OP_ADVANCE) {
        *static_cast<size_t *>(context) = event->bytes;
    }
}

class Advance : public CdTest {
protected:
    void SetUp() override {
        CdTest::SetUp();
        root = make_root();
    }

    void TearDown() override {
        cd_observe(nullptr, nullptr);
        CdTest::TearDown();
    }

    cd_handle root;
};

// The example under advance_cd_point_in_time: 1 GB, then 9 bytes. With 1 MiB in place of 1 GB.
TEST_F(Advance, CopiesOnlyWhatWasAddedAgainSinceTheLastOne) {
    std::vector<uint8_t> data(1 << 20, 1);
    size_t copied = 0;
    ASSERT_TRUE(succeeds(cd_observe(note_advance, &copied)));
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(data.data(), data.size())}, 1)));
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    EXPECT_EQ(copied, data.size());
    EXPECT_EQ(info_of(root).read_write, 0U);

    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {bytes(&data[1000], 9)}, 1)));
    EXPECT_EQ(info_of(root).read_write, 9U);
    std::fill_n(data.begin() + 1000, 9, uint8_t{2});
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    EXPECT_EQ(copied, 9U);

    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    EXPECT_EQ(copied, 0U);

    std::fill(data.begin(), data.end(), uint8_t{3});
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(data[999], 1);
    EXPECT_EQ(data[1000], 2);
    EXPECT_EQ(data[1008], 2);
    EXPECT_EQ(data[1009], 1);
}

TEST_F(Advance, MovesThePointInTimeToNow) {
    int x = 1;
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(x)}, 1)));
    for (int step = 2; step < 6; ++step) {
        x = step;
        ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(x)}, 1)));
        ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
        x = 99;
        ASSERT_TRUE(succeeds(restore_cd(root)));
        EXPECT_EQ(x, step);
    }
    EXPECT_EQ(info_of(root).epoch, 4U);
}

TEST_F(Advance, ChangesNoMemory) {
    for (const char *storage : {"shadow=full", "shadow=none"}) {
        SCOPED_TRACE(storage);
        uint8_t copy = 1, read_only = 1, from_parent = 1, regenerated = 1;
        ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(from_parent)}, 1)));
        const cd_handle child = make_child(root, storage);
        ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(copy), ro(read_only)}, 2)));
        ASSERT_TRUE(succeeds(add_to_cd_via_parent(child, {rw(from_parent)}, 1)));
        ASSERT_TRUE(succeeds(add_to_cd_via_regen(child, {ro(regenerated)}, 1, write_ones)));
        copy = read_only = from_parent = regenerated = 2;
        ASSERT_TRUE(succeeds(advance_cd_point_in_time(child)));
        EXPECT_EQ(copy + read_only + from_parent + regenerated, 4 * 2);
        ASSERT_TRUE(succeeds(restore_cd(root)));
        ASSERT_TRUE(succeeds(
            delete_from_cd(root, {rw(from_parent), rw(copy), ro(read_only), ro(regenerated)}, 4)));
    }
}

TEST_F(Advance, LeavesReadOnlyEntriesAlone) {
    int x = 1;
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {ro(x)}, 1)));
    x = 2;
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(x, 1);
}

TEST_F(Advance, DemotesParentBytesButCopiesNone) {
    int x = 1;
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {rw(x)}, 1)));
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_parent(child, {rw(x)}, 1)));
    x = 2;
    size_t copied = 99;
    ASSERT_TRUE(succeeds(cd_observe(note_advance, &copied)));
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(child)));
    EXPECT_EQ(copied, 0U);
    EXPECT_EQ(info_of(child).read_write, 0U);
    ASSERT_TRUE(succeeds(restore_cd(child)));
    EXPECT_EQ(x, 1) << "still the parent's data";
}

TEST_F(Advance, LeavesRegenEntriesAlone) {
    uint8_t x = 1;
    ASSERT_TRUE(succeeds(add_to_cd_via_regen(root, {ro(x)}, 1, write_ones)));
    x = 2;
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(root)));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(x, 0x11);
}

TEST_F(Advance, OfAChildFirstGivesTheParentTheOldData) {
    int x = 1;
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(x)}, 1)));
    x = 2;
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(child)));
    EXPECT_EQ(info_of(root).bytes, sizeof x);
    EXPECT_EQ(info_of(child).bytes, sizeof x) << "the child is not invalidated";
    EXPECT_EQ(info_of(root).epoch, 0U);
    EXPECT_EQ(info_of(child).epoch, 1U);
    x = 3;
    ASSERT_TRUE(succeeds(restore_cd(child)));
    EXPECT_EQ(x, 2);
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(x, 1);
}

TEST_F(Advance, OfAChildPromotesTheParentsReadOnlyBytes) {
    int x = 1;
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(root, {ro(x)}, 1)));
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(x)}, 1)));
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(child)));
    EXPECT_EQ(info_of(root).read_write, sizeof x);
    EXPECT_EQ(info_of(child).read_write, 0U);
}

TEST_F(Advance, OfAChildASecondTimeLeavesTheParentAlone) {
    int x = 1;
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(x)}, 1)));
    x = 2;
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(child)));
    x = 3;
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(x)}, 1)));
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(child)));
    ASSERT_TRUE(succeeds(restore_cd(root)));
    EXPECT_EQ(x, 1);
}

TEST_F(Advance, OfAChildLeavesConstrainedBytesBehind) {
    int x = 1, y = 1;
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(x), constrained(y)}, 2)));
    y = 2;
    ASSERT_TRUE(succeeds(advance_cd_point_in_time(child)));
    EXPECT_EQ(info_of(root).bytes, sizeof x);
    y = 3;
    ASSERT_TRUE(succeeds(restore_cd(child)));
    EXPECT_EQ(y, 2) << "but they are advanced in the child";
}

TEST_F(Advance, DataSharedWithTheParentStayApartAfterwards) {
    for (const char *storage : {"shadow=full", "shadow=none"}) {
        SCOPED_TRACE(storage);
        int x = 1, y = 1;
        const cd_handle child = make_child(root, storage);
        ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(x), ro(y)}, 2)));
        ASSERT_TRUE(succeeds(advance_cd_point_in_time(child)));
        x = y = 2;
        ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(x), rw(y)}, 2)));
        ASSERT_TRUE(succeeds(advance_cd_point_in_time(child)));
        x = y = 3;
        ASSERT_TRUE(succeeds(restore_cd(child)));
        EXPECT_EQ(x, 2);
        EXPECT_EQ(y, 2);
        ASSERT_TRUE(succeeds(restore_cd(root)));
        EXPECT_EQ(x, 1);
        EXPECT_EQ(y, 1);
        ASSERT_TRUE(succeeds(delete_from_cd(root, {rw(x), rw(y)}, 2)));
    }
}

TEST_F(Advance, IsRefusedWithChildrenAndChangesNothing) {
    int x = 1;
    const cd_handle child = make_child(root);
    ASSERT_TRUE(succeeds(add_to_cd_via_copy(child, {rw(x)}, 1)));
    make_child(child);
    x = 2;
    EXPECT_TRUE(fails_with(CD_ERROR_HAS_CHILDREN, advance_cd_point_in_time(child)));
    EXPECT_EQ(info_of(root).bytes, 0U) << "not even the implicit commit is done";
    EXPECT_EQ(info_of(child).read_write, sizeof x);
    ASSERT_TRUE(succeeds(restore_cd(child)));
    EXPECT_EQ(x, 1);
}

} // namespace
