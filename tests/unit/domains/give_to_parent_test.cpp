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

    // Does as advance(), which fills the next data of every READ_WRITE copy before it publishes.
    void hand_over() {
        GiveToParent handover(child, GetParam());
        EXPECT_TRUE(handover.prepare(Locked::parent));
        for (const auto &[address, entry] : child.entries) {
            if (!moves() && entry->read_write() && entry->restoration == Restoration::copy) {
                Block *block = Block::create(entry->range.length(), false);
                entry->next_data = Piece(*block, 0);
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

TEST(GiveToParent, SharingLeavesTheChildItsNextDataOrAShareOfTheData) {
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
    changing.next_data = Piece(steady.data.block(), steady.data.offset());
    handover.publish();

    const Entry &parents_changing = *parent.entries.find(0)->second;
    EXPECT_EQ(parents_changing.data.at(), old_data);
    EXPECT_FALSE(parents_changing.data_shared);
    EXPECT_TRUE(parents_changing.in_place);
    EXPECT_FALSE(changing.data);
    EXPECT_TRUE(changing.next_data);

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

// Returns what the parent has to hold afterwards, computed byte by byte.
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
