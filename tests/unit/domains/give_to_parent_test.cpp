// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "domains/give_to_parent.h"

#include "../ranges/entries.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>
#include <vector>

namespace cd {
namespace {

using Bytes = std::map<uintptr_t, ByteState>;

struct HandoverTest : testing::TestWithParam<GiveToParent::Kind> {
    HandoverTest() { child.parent = &parent; }

    bool moves() const { return GetParam() == GiveToParent::Kind::move; }

    // As advance does it, which fills a shadow for every READ_WRITE copy before it publishes.
    void hand_over() {
        GiveToParent handover(child, GetParam());
        EXPECT_TRUE(handover.prepare(Locked::parent));
        for (const auto &[address, entry] : child.entries) {
            if (!moves() && entry->read_write() && entry->restoration == Restoration::copy) {
                Block *block = Block::create(entry->range.length(), false);
                entry->shadow = Piece(*block, 0);
                block->release();
            }
        }
        handover.publish();
    }

    // All of entries are held, and the list is that of the READ_WRITE ones.
    static void expect_consistent(RangeIndex &entries) {
        size_t read_write = 0;
        uintptr_t end = 0;
        for (const auto &[address, entry] : entries) {
            EXPECT_EQ(address, entry->range.begin);
            EXPECT_LE(end, entry->range.begin);
            EXPECT_EQ(entry->stage, Stage::held);
            EXPECT_EQ(entry->listed, entry->read_write());
            read_write += entry->read_write();
            end = entry->range.end;
        }
        for (const Entry *entry = entries.read_write().first(); entry; entry = entry->next) {
            --read_write;
        }
        EXPECT_EQ(read_write, 0u);
        EXPECT_TRUE(entries.arriving().empty());
    }

    Domain parent;
    Domain child;
};

INSTANTIATE_TEST_SUITE_P(Kinds, HandoverTest,
                         testing::Values(GiveToParent::Kind::move, GiveToParent::Kind::share),
                         [](const auto &each) { return each.index == 0 ? "move" : "share"; });

TEST_P(HandoverTest, TheOlderWinsAndConstrainedStaysBehind) {
    const Entry &held = put(parent.entries, {20, 30}, {.call = 1});
    const std::byte *data = held.data.at();
    put(child.entries, {10, 40}, {.call = 2});
    put(child.entries, {50, 60}, {.scope = CD_CONSTRAINED, .call = 3});
    hand_over();
    const Bytes bytes = bytes_of(parent.entries);
    EXPECT_EQ(ranges_of(parent.entries), (std::vector<Range>{{10, 20}, {20, 30}, {30, 40}}));
    EXPECT_EQ(bytes.at(20).call, 1u);
    EXPECT_EQ(bytes.at(20).data, data);
    EXPECT_EQ(bytes.at(10).call, 2u);
    EXPECT_EQ(bytes.at(39).call, 2u);
    EXPECT_EQ(bytes_of(child.entries).size(), moves() ? 0u : 40u);
}

TEST_P(HandoverTest, PromotesExactlyTheSharedBytes) {
    put(parent.entries, {0, 100});
    put(parent.entries, {100, 200}, {.restoration = Restoration::parent});
    put(parent.entries, {200, 300}, {.restoration = Restoration::regen});
    put(child.entries, {30, 40}, {.access = CD_READ_WRITE});
    put(child.entries, {50, 60}, {.access = CD_READ_WRITE, .scope = CD_CONSTRAINED});
    put(child.entries, {70, 80}, {.restoration = Restoration::parent, .access = CD_READ_WRITE});
    put(child.entries, {90, 95}, {.access = CD_READ_ONLY});
    put(child.entries, {110, 210}, {.access = CD_READ_WRITE});
    hand_over();
    const auto in = [](uintptr_t at, Range range) { return at >= range.begin && at < range.end; };
    for (const auto &[at, byte] : bytes_of(parent.entries)) {
        const bool promoted =
            in(at, {30, 40}) || in(at, {50, 60}) || in(at, {70, 80}) || in(at, {110, 200});
        EXPECT_EQ(byte.access, promoted ? CD_READ_WRITE : CD_READ_ONLY) << at;
    }
    expect_consistent(parent.entries);
}

TEST_P(HandoverTest, FilesKeepTheOlderPosition) {
    parent.files.add({3, 1, 1, 30});
    child.files.add({3, 1, 1, 33});
    child.files.add({4, 1, 2, 44});
    hand_over();
    std::vector<std::pair<int, off_t>> positions;
    for (const FilePosition &file : parent.files) {
        positions.emplace_back(file.descriptor, file.position);
    }
    EXPECT_EQ(positions, (std::vector<std::pair<int, off_t>>{{3, 30}, {4, 44}}));
}

TEST(GiveToParent, SharingLeavesTheChildItsShadowOrAShareOfTheData) {
    Domain parent;
    Domain child;
    child.parent = &parent;
    Entry &changing = put(child.entries, {0, 10}, {.access = CD_READ_WRITE});
    Entry &steady = put(child.entries, {20, 30});
    changing.in_place = true;
    const std::byte *old_data = changing.data.at();
    GiveToParent handover(child, GiveToParent::Kind::share);
    EXPECT_TRUE(handover.prepare(Locked::parent));
    EXPECT_TRUE(GiveToParent::gives_data(changing));
    EXPECT_TRUE(GiveToParent::gives_data(steady));
    changing.shadow = Piece(steady.data.block(), steady.data.offset());
    handover.publish();

    const Entry &parents_changing = *parent.entries.find(0)->second;
    EXPECT_EQ(parents_changing.data.at(), old_data);
    EXPECT_FALSE(parents_changing.data_shared);
    EXPECT_TRUE(parents_changing.in_place);
    EXPECT_FALSE(changing.data);
    EXPECT_TRUE(changing.shadow);

    const Entry &parents_steady = *parent.entries.find(20)->second;
    EXPECT_EQ(parents_steady.data.at(), steady.data.at());
    EXPECT_TRUE(parents_steady.data_shared);
    EXPECT_TRUE(steady.data_shared);
}

void fill_randomly(RangeIndex &entries, std::mt19937 &random, uint64_t first_call) {
    for (uintptr_t at = random() % 6; at < 90;) {
        const uintptr_t end = at + 1 + random() % 12;
        const auto restoration = static_cast<Restoration>(random() % 3);
        const bool read_write = restoration != Restoration::regen && random() % 2 == 0;
        put(entries, {at, end},
            {.restoration = restoration,
             .access = read_write ? CD_READ_WRITE : CD_READ_ONLY,
             .scope = static_cast<addr_scope>(random() % 3 == 0),
             .call = first_call + random() % 3});
        at = end + (random() % 2 == 0 ? random() % 10 : 0);
    }
}

// What the parent holds afterwards, looked at byte by byte.
Bytes expected_in_parent(Bytes parents, const Bytes &childs) {
    for (const auto &[at, given] : childs) {
        const auto held = parents.find(at);
        if (held == parents.end()) {
            if (given.scope == CD_GLOBAL) {
                parents[at] = given;
            }
        } else if (given.access == CD_READ_WRITE &&
                   held->second.restoration != Restoration::regen) {
            held->second.access = CD_READ_WRITE;
        }
    }
    return parents;
}

TEST_P(HandoverTest, AgreesWithALookAtEachByte) {
    std::mt19937 random(8);
    for (int round = 0; round < 300; ++round) {
        parent.entries.clear();
        child.entries.clear();
        fill_randomly(parent.entries, random, 1);
        fill_randomly(child.entries, random, 10);
        const Bytes childs = bytes_of(child.entries);
        const Bytes expected = expected_in_parent(bytes_of(parent.entries), childs);
        hand_over();
        ASSERT_EQ(bytes_of(parent.entries), expected);
        expect_consistent(parent.entries);
        expect_consistent(child.entries);
        ASSERT_EQ(bytes_of(child.entries).size(), moves() ? 0 : childs.size());
    }
}

TEST_P(HandoverTest, ChangesNothingUnlessItIsPublished) {
    std::mt19937 random(9);
    for (int round = 0; round < 300; ++round) {
        parent.entries.clear();
        child.entries.clear();
        fill_randomly(parent.entries, random, 1);
        fill_randomly(child.entries, random, 10);
        child.files.add({round, 1, 1, 0});
        const Bytes parents = bytes_of(parent.entries);
        const Bytes childs = bytes_of(child.entries);
        {
            GiveToParent handover(child, GetParam());
            EXPECT_TRUE(handover.prepare(Locked::parent));
        }
        ASSERT_EQ(bytes_of(parent.entries), parents);
        ASSERT_EQ(bytes_of(child.entries), childs);
        ASSERT_EQ(parent.files.size(), 0u);
        expect_consistent(parent.entries);
        expect_consistent(child.entries);
    }
}

} // namespace
} // namespace cd
