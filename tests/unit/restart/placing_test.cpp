// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "restart/placing.h"

#include "domains/inheriting.h"
#include "domains/recovery.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

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

class UseOfUnboundData : public testing::Test {
protected:
    // As the store is opened: 100 bytes, all of them used.
    Unbound unbound() {
        Unbound found;
        found.old = {1000, 1100};
        found.data =
            Piece::adopt(*Block::create_backed(std::make_unique<CountingPlace>(used_), 100), 0);
        found.data.block().backing()->use(100);
        return found;
    }

    int used_ = 0;
};

TEST_F(UseOfUnboundData, IsTheSameWhenTheyAreBoundAndWhenThatIsTakenBack) {
    Domain cd;
    Unbound found = unbound();
    for (int i = 0; i < 3; ++i) {
        place_arriving(cd, found, 5000);
        cd.entries.reject_arriving();
        EXPECT_EQ(used_, 100);
    }
    place_arriving(cd, found, 5000);
    cd.entries.accept_arriving();
    found = {};
    EXPECT_EQ(used_, 100);
    cd.entries.clear();
    EXPECT_EQ(used_, 0);
}

TEST_F(UseOfUnboundData, IsWhatIsLeftOfThemWhicheverWayTheyAreSplitAndMoved) {
    std::vector<Unbound> parts;
    parts.push_back(unbound());
    parts.push_back(parts[0].split(1030));
    parts.push_back(parts[1].split(1060));
    EXPECT_EQ(used_, 100);
    Unbound cut = parts[2].split(1090);
    parts[2].rejoin(cut);
    EXPECT_EQ(parts[2].old.end, 1100U);
    parts.erase(parts.begin());
    EXPECT_EQ(used_, 70);
    parts[0] = std::move(parts[1]);
    EXPECT_EQ(used_, 40);
    parts.clear();
    EXPECT_EQ(used_, 0);
}

TEST_F(UseOfUnboundData, GoesToWhoeverInheritsThemAndEndsWithTheOthers) {
    Domain parent;
    {
        Domain child;
        child.parent = &parent;
        child.unbound.push_back(unbound());
        child.unbound.push_back(child.unbound[0].split(1040));
        child.unbound[0].scope = CD_CONSTRAINED;
        {
            Inheriting fails(parent, Inheriting::Kind::commit);
            fails.leave(child);
        }
        EXPECT_EQ(used_, 100);
        Inheriting inheriting(parent, Inheriting::Kind::commit);
        inheriting.leave(child);
        inheriting.publish();
    }
    ASSERT_EQ(parent.unbound.size(), 1U);
    EXPECT_EQ(used_, 60);
}

TEST(Placing, OfWhatAnAncestorHadIsFoundByARestoreThatTheAncestorHasItNoMore) {
    Domain parent;
    Domain child;
    child.parent = &parent;
    Unbound found;
    found.old = {1000, 1008};
    found.restoration = Restoration::parent;
    place_arriving(child, found, 2000);
    child.entries.accept_arriving();
    Recovery recovery(child);
    EXPECT_EQ(recovery.prepare().code(), CD_ERROR_NOT_IN_PARENT);
}

} // namespace
} // namespace cd
