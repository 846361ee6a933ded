// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors

// Equal neighbours of one list are one entry, of which nobody can tell that it is not one for each.
#include "domains/add.h"
#include "domains/advance.h"
#include "domains/delete_ranges.h"
#include "domains/query.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace cd {
namespace {

using Parts = std::vector<std::pair<size_t, size_t>>; // begin and end

class NeighboursTest : public testing::Test {
protected:
    void keep(const Parts &parts, addr_type access = CD_READ_WRITE) {
        const std::vector<cd_addrspec> list = specs(parts, access);
        AddRequest request;
        request.list = list.data();
        request.count = static_cast<int>(list.size());
        request.call = ++calls;
        size_t copied = 0;
        ASSERT_TRUE(add(domain, request, copied).is_ok());
    }

    void drop(const Parts &parts) {
        const std::vector<cd_addrspec> list = specs(parts, CD_READ_ONLY);
        ASSERT_TRUE(delete_ranges(domain, list.data(), static_cast<int>(list.size())).is_ok());
    }

    void advance_all() {
        std::vector<FilePosition> positions;
        size_t copied = 0;
        ASSERT_TRUE(advance(domain, Locked::parent, positions, copied)->is_ok());
    }

    // Returns the entries that the domain keeps.
    Parts entries() const {
        Parts parts;
        for (const auto &[address, entry] : domain.entries) {
            const uintptr_t start = reinterpret_cast<uintptr_t>(memory.data());
            parts.emplace_back(entry->range.begin - start, entry->range.end - start);
        }
        return parts;
    }

    // Returns the number of entries that a query reports.
    size_t told() const {
        cd_info info;
        query(domain, info);
        return info.entries;
    }

    std::vector<cd_addrspec> specs(const Parts &parts, addr_type access) {
        std::vector<cd_addrspec> list;
        for (const auto &[begin, end] : parts) {
            list.push_back({memory.data() + begin, end - begin, access, CD_GLOBAL});
        }
        return list;
    }

    std::vector<std::byte> memory = std::vector<std::byte>(100);
    Domain domain;
    uint64_t calls = 0;
};

const Parts rows = {{0, 10}, {10, 20}, {20, 30}, {30, 40}};

TEST_F(NeighboursTest, AreOneEntryAndToldAsMany) {
    keep(rows);
    EXPECT_EQ(entries(), (Parts{{0, 40}}));
    EXPECT_EQ(told(), 4u);
    advance_all();
    keep(rows); // promotes them
    EXPECT_EQ(entries(), (Parts{{0, 40}}));
    EXPECT_EQ(told(), 4u);
}

TEST_F(NeighboursTest, AreNotWhatDiffersInLengthOrLiesApart) {
    keep({{0, 10}, {10, 21}, {30, 40}, {41, 51}});
    EXPECT_EQ(entries().size(), 4u);
}

TEST_F(NeighboursTest, AreNotWhatDiffersInItsLabels) {
    std::vector<cd_addrspec> list = specs(rows, CD_READ_WRITE);
    list[1].addr_tp = CD_READ_ONLY;
    list[3].addr_scope = CD_CONSTRAINED;
    AddRequest request;
    request.list = list.data();
    request.count = 4;
    size_t copied = 0;
    ASSERT_TRUE(add(domain, request, copied).is_ok());
    EXPECT_EQ(entries().size(), 4u);
}

TEST_F(NeighboursTest, StayTogetherBesideOneThatIsPromotedAlone) {
    keep(rows, CD_READ_ONLY);
    keep({{10, 20}}, CD_READ_WRITE);
    EXPECT_EQ(entries(), (Parts{{0, 10}, {10, 20}, {20, 40}}));
    EXPECT_EQ(told(), 4u);
}

TEST_F(NeighboursTest, StayTogetherBesideOneThatIsCut) {
    keep(rows, CD_READ_ONLY);
    keep({{23, 27}}, CD_READ_WRITE);
    EXPECT_EQ(entries(), (Parts{{0, 20}, {20, 23}, {23, 27}, {27, 30}, {30, 40}}));
    EXPECT_EQ(told(), 6u);
    keep({{23, 27}}, CD_READ_ONLY); // what was cut is whole again
    EXPECT_EQ(entries(), (Parts{{0, 20}, {20, 30}, {30, 40}}));
    EXPECT_EQ(told(), 4u);
}

TEST_F(NeighboursTest, ThatAreThereInPartAreAddedOneByOne) {
    keep({{15, 25}});
    keep(rows);
    EXPECT_EQ(entries(), (Parts{{0, 10}, {10, 15}, {15, 25}, {25, 30}, {30, 40}}));
    EXPECT_EQ(told(), 5u);
}

TEST_F(NeighboursTest, AreDeletedInParts) {
    keep(rows);
    drop({{0, 10}, {25, 30}});
    EXPECT_EQ(entries(), (Parts{{10, 20}, {20, 25}, {30, 40}}));
    EXPECT_EQ(told(), 3u);
}

// A block is freed with its last entry: many large ones do not hold each other's.
TEST_F(NeighboursTest, ShareNoBlockThatWouldBeTooLargeToKeepForOne) {
    memory.resize(size_t{6} << 20);
    Parts large;
    for (size_t begin = 0; begin < memory.size(); begin += size_t{512} << 10) {
        large.emplace_back(begin, begin + (size_t{512} << 10));
    }
    keep(large);
    EXPECT_EQ(told(), 12u);
    EXPECT_EQ(entries().size(), 4u);
}

} // namespace
} // namespace cd
