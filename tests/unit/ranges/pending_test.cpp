// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "ranges/pending.h"

#include "domains/restore.h"
#include "restart/bind.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
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

class UseOfPendingData : public testing::Test {
protected:
    // As the store is opened: 100 bytes, all of them used.
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

class Pending : public testing::Test {
protected:
    using Kind = PendingName::Kind;

    void add(Kind kind, const std::string &text, uint64_t add_index, uintptr_t begin) {
        PendingRange range;
        range.old = {begin, begin + 1};
        ranges_.insert({kind, std::make_shared<const std::string>(text), add_index},
                       std::move(range));
    }
    static std::vector<uintptr_t> begins(PendingRanges::Found found) {
        std::vector<uintptr_t> begins;
        for (auto at = found.first; at != found.second; ++at) {
            begins.push_back(at->second.old.begin);
        }
        return begins;
    }

    PendingRanges ranges_;
};

TEST_F(Pending, IsFoundByThePathOfItsCdAndItsAddIndex) {
    using Begins = std::vector<uintptr_t>;
    add(Kind::add_index, "1", 0, 100);
    add(Kind::add_index, "1", 2, 200);
    add(Kind::add_index, "1", 2, 300);
    add(Kind::add_index, "1.0", 1, 400);
    add(Kind::object, "1", 0, 500);
    EXPECT_EQ(begins(ranges_.added_as("1", 2)), (Begins{200, 300}));
    EXPECT_EQ(begins(ranges_.added_as("1", 1)), Begins());
    EXPECT_EQ(begins(ranges_.added_as("1.0", 1)), Begins{400});
    EXPECT_EQ(ranges_.added_after("1", 0)->second.old.begin, 200U);
    EXPECT_EQ(ranges_.added_after("1", 2), ranges_.end());
    EXPECT_EQ(ranges_.added_after("", 0), ranges_.end());
}

TEST_F(Pending, IsFoundByItsObjectOrRegion) {
    using Begins = std::vector<uintptr_t>;
    add(Kind::region, "grid", 0, 100);
    add(Kind::object, "libb.so", 0, 200);
    add(Kind::object, "liba.so", 0, 300);
    add(Kind::object, "libb.so", 0, 400);
    EXPECT_EQ(begins(ranges_.in(Kind::object, "libb.so")), (Begins{200, 400}));
    EXPECT_EQ(begins(ranges_.in(Kind::region, "libb.so")), Begins());
    EXPECT_EQ(begins(ranges_.in(Kind::region, "grid")), Begins{100});
    std::string objects;
    ranges_.for_each_object([&](const std::string &object) { objects += object + " "; });
    EXPECT_EQ(objects, "liba.so libb.so ");
}

TEST(Placing, OfWhatAnAncestorHadIsFoundByARestoreThatTheAncestorHasItNoMore) {
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
