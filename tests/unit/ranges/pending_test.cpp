// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "ranges/pending.h"

#include "domains/restore.h"
#include "restart/bind.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace cd {
namespace {

// A place that tells how much of it is used.
class CountingPlace : public Backing {
public:
    explicit CountingPlace(int &used) : used_(used) {}

    Status read(size_t, void *, size_t) const override { return Status::ok(); }
    void use(size_t length) noexcept override { used_ += static_cast<int>(length); }
    void lose(size_t length) noexcept override { used_ -= static_cast<int>(length); }
    bool is_sparse() const noexcept override { return false; }

private:
    int &used_;
};

class UseOfPendingData : public testing::Test {
protected:
    // Returns a pending range of 100 used bytes, as opening a store makes it.
    PendingRange pending() {
        PendingRange found;
        found.old = {1000, 1100};
        found.data =
            Piece::adopt(*Block::create_backed(std::make_unique<CountingPlace>(used_), 100), 0);
        found.data.block().backing()->use(100);
        return found;
    }

    int used_ = 0;
};

TEST_F(UseOfPendingData, IsTheSameWhenTheyAreBoundAndWhenThatIsTakenBack) {
    Domain cd;
    PendingRange found = pending();
    for (int i = 0; i < 3; ++i) {
        place_arriving(cd, found, 5000);
        cd.entries.reject_arriving();
        EXPECT_EQ(used_, 100);
    }
    {
        const PendingRange bound = std::move(found);
        place_arriving(cd, bound, 5000);
        cd.entries.accept_arriving();
    }
    EXPECT_EQ(used_, 100);
    cd.entries.clear();
    EXPECT_EQ(used_, 0);
}

TEST_F(UseOfPendingData, EndsWithThePendingRange) {
    {
        PendingRanges ranges;
        ranges.insert(PendingName(), pending());
        EXPECT_EQ(used_, 100);
        ranges.insert(PendingName(), pending());
        EXPECT_EQ(used_, 200);
        ranges.erase(ranges.begin());
        EXPECT_EQ(used_, 100);
    }
    EXPECT_EQ(used_, 0);
}

TEST(Placing, OfParentRangesFailsTheRestoreIfTheAncestorNoLongerHoldsThem) {
    Domain parent;
    Domain child;
    child.parent = &parent;
    PendingRange found;
    found.old = {1000, 1008};
    found.restoration = Restoration::parent;
    place_arriving(child, found, 2000);
    child.entries.accept_arriving();
    Restore restore(child);
    EXPECT_EQ(restore.prepare().code(), CD_ERROR_NOT_IN_PARENT);
}

} // namespace
} // namespace cd
