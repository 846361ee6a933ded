// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "ranges/range_index.h"

#include "entries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

namespace cd {
namespace {

using Ranges = std::vector<Range>;

Ranges in_list(EntryList &list) {
    Ranges found;
    for (const Entry *entry = list.first(); entry != nullptr; entry = entry->next) {
        found.push_back(entry->range);
    }
    return found;
}

// Disjoint entries with gaps here and there, in [1, 200).
void fill_randomly(RangeIndex &index, std::mt19937 &random) {
    Ranges ranges;
    for (uintptr_t at = 1 + random() % 3; at < 190;) {
        const uintptr_t end = at + 1 + random() % 9;
        ranges.push_back({at, end});
        at = end + random() % 2 * (random() % 6);
    }
    std::ranges::shuffle(ranges, random);
    ranges.resize(random() % (ranges.size() + 1));
    for (const Range &range : ranges) {
        put(index, range,
            {.restoration = static_cast<Restoration>(random() % 3),
             .access = static_cast<addr_type>(random() % 2),
             .scope = static_cast<addr_scope>(random() % 2),
             .call = random() % 3});
    }
}

RangeIndex::Position naive_find(const RangeIndex &index, uintptr_t address) {
    return std::find_if(index.begin(), index.end(),
                        [&](const auto &item) { return item.second->range.end > address; });
}

RangeIndex::Position random_position(const RangeIndex &index, std::mt19937 &random) {
    const auto count = std::distance(index.begin(), index.end());
    return std::next(index.begin(), static_cast<long>(random() % (count + 1)));
}

TEST(RangeIndex, FindsTheSameFromEveryHint) {
    std::mt19937 random(1);
    for (int round = 0; round < 20; ++round) {
        RangeIndex index;
        fill_randomly(index, random);
        for (uintptr_t address = 0; address < 205; ++address) {
            const auto expected = naive_find(index, address);
            ASSERT_EQ(index.find(address), expected) << address;
            for (auto hint = index.begin(); hint != index.end(); ++hint) {
                ASSERT_EQ(index.find_near(hint, address), expected) << address;
            }
            ASSERT_EQ(index.find_near(index.end(), address), expected) << address;
        }
    }
}

TEST(RangeIndex, HoldsTheLastByteOfTheAddressSpace) {
    RangeIndex index;
    put(index, {UINTPTR_MAX - 10, UINTPTR_MAX});
    EXPECT_EQ(index.find(UINTPTR_MAX - 1), index.begin());
    EXPECT_EQ(index.find(UINTPTR_MAX), index.end());
    index.split(index.end(), UINTPTR_MAX - 1);
    EXPECT_EQ(ranges_of(index),
              (Ranges{{UINTPTR_MAX - 10, UINTPTR_MAX - 1}, {UINTPTR_MAX - 1, UINTPTR_MAX}}));
}

bool is_border(const RangeIndex &index, uintptr_t address) {
    return std::ranges::none_of(ranges_of(index), [&](const Range &range) {
        return range.begin < address && address < range.end;
    });
}

TEST(RangeIndex, SplittingChangesNoByte) {
    std::mt19937 random(2);
    for (int round = 0; round < 200; ++round) {
        RangeIndex index;
        fill_randomly(index, random);
        const auto before = bytes_of(index);
        for (int step = 0; step < 10; ++step) {
            const uintptr_t address = random() % 205;
            const auto found = index.split(random_position(index, random), address);
            ASSERT_EQ(found, naive_find(index, address));
            ASSERT_TRUE(is_border(index, address));

            const uintptr_t begin = random() % 205;
            const uintptr_t end = begin + 1 + random() % 30;
            const auto first = index.make_borders(random_position(index, random), {begin, end});
            ASSERT_EQ(first, naive_find(index, begin));
            ASSERT_TRUE(is_border(index, begin) && is_border(index, end));
            ASSERT_EQ(bytes_of(index), before);
        }
        for (const auto &[address, entry] : index) {
            ASSERT_EQ(entry->listed, entry->read_write());
        }
    }
}

TEST(RangeIndex, MakesBordersAroundExactlyOneEntryWithoutSearching) {
    RangeIndex index;
    put(index, {10, 20});
    EXPECT_EQ(index.make_borders(index.begin(), {10, 20}), index.begin());
    EXPECT_EQ(ranges_of(index), (Ranges{{10, 20}}));
    EXPECT_EQ(index.make_borders(index.begin(), {12, 15})->second->range, (Range{12, 15}));
    EXPECT_EQ(ranges_of(index), (Ranges{{10, 12}, {12, 15}, {15, 20}}));
}

TEST(RangeIndex, SplitPartsStandSideBySideInTheirList) {
    RangeIndex index;
    put(index, {50, 60}, {.access = CD_READ_WRITE});
    put(index, {10, 20}, {.access = CD_READ_WRITE});
    index.insert_arriving(index.find(80), new_entry(index, {80, 90}));
    index.insert_arriving(index.find(30), new_entry(index, {30, 40}));
    for (const uintptr_t address : {55, 15, 85, 35}) {
        index.split(index.end(), address);
    }
    EXPECT_EQ(in_list(index.read_write()), (Ranges{{50, 55}, {55, 60}, {10, 15}, {15, 20}}));
    EXPECT_EQ(in_list(index.arriving()), (Ranges{{80, 85}, {85, 90}, {30, 35}, {35, 40}}));
    EXPECT_EQ(index.find(85)->second->stage, Stage::arriving);
}

TEST(RangeIndex, ListsReadWriteEntriesInOrderOfPromotion) {
    RangeIndex index;
    Entry &first = put(index, {10, 20});
    Entry &second = put(index, {20, 30});
    EXPECT_TRUE(index.read_write().empty());
    index.set_access(second, CD_READ_WRITE);
    index.set_access(first, CD_READ_WRITE);
    index.set_access(second, CD_READ_WRITE); // is in the list already
    EXPECT_EQ(in_list(index.read_write()), (Ranges{{20, 30}, {10, 20}}));
    index.set_access(second, CD_READ_ONLY);
    index.set_access(second, CD_READ_ONLY);
    EXPECT_EQ(in_list(index.read_write()), (Ranges{{10, 20}}));
    EXPECT_EQ(second.access, CD_READ_ONLY);
    index.erase(index.begin());
    EXPECT_TRUE(index.read_write().empty());
}

TEST(RangeIndex, AcceptsOrRejectsWhatArrives) {
    for (const bool accept : {true, false}) {
        RangeIndex index;
        put(index, {10, 20});
        index.insert_arriving(index.find(30),
                              new_entry(index, {30, 40}, {.access = CD_READ_WRITE}));
        index.insert_arriving(index.find(20), new_entry(index, {20, 30}));
        EXPECT_TRUE(index.read_write().empty());
        index.erase(index.insert_arriving(index.find(90), new_entry(index, {90, 95})));
        accept ? index.accept_arriving() : index.reject_arriving();
        EXPECT_TRUE(index.arriving().empty());
        const Ranges held = {{10, 20}, {20, 30}, {30, 40}};
        EXPECT_EQ(ranges_of(index), accept ? held : (Ranges{{10, 20}}));
        EXPECT_EQ(in_list(index.read_write()), accept ? (Ranges{{30, 40}}) : Ranges());
        for (const auto &[address, entry] : index) {
            EXPECT_EQ(entry->stage, Stage::held);
        }
    }
}

TEST(RangeIndex, ShowsWhatArrivesInItsOrderBeforeItIsHeld) {
    RangeIndex index;
    for (const uintptr_t at : {80, 10, 40}) {
        index.insert_arriving(index.find(at),
                              new_entry(index, {at, at + 5}, {.access = CD_READ_WRITE}));
    }
    Ranges shown;
    index.accept_arriving([&](const Entry &entry) {
        EXPECT_EQ(entry.stage, Stage::arriving);
        shown.push_back(entry.range);
    });
    EXPECT_EQ(shown, (Ranges{{80, 85}, {10, 15}, {40, 45}}));
    EXPECT_EQ(in_list(index.read_write()), shown);
}

// Returns whether two halves of an entry are joined again after `change` of the second.
bool joins_after(const std::function<void(RangeIndex &, Entry &)> &change) {
    RangeIndex index;
    Entry &left = put(index, {10, 20}, {.access = CD_READ_WRITE});
    left.next_data = left.data.share();
    const auto right = index.split(index.begin(), 15);
    change(index, *right->second);
    const auto position = index.merge_before(index.find(15));
    const bool joined = ranges_of(index) == Ranges{{10, 20}};
    EXPECT_EQ(position, joined ? index.begin() : index.find(15));
    EXPECT_EQ(ranges_of(index).size(), joined ? 1u : 2u);
    return joined;
}

TEST(RangeIndex, JoinsWhatBelongsTogether) {
    EXPECT_TRUE(joins_after([](RangeIndex &, Entry &) {}));
    EXPECT_FALSE(joins_after(
        [](RangeIndex &index, Entry &entry) { index.set_access(entry, CD_READ_ONLY); }));
    EXPECT_FALSE(joins_after([](RangeIndex &, Entry &entry) { ++entry.origin.element; }));
    EXPECT_FALSE(joins_after([](RangeIndex &, Entry &entry) { entry.data_shared = true; }));
    EXPECT_FALSE(joins_after([](RangeIndex &, Entry &entry) { entry.in_place = true; }));
    EXPECT_FALSE(joins_after([](RangeIndex &, Entry &entry) { entry.data.reset(); }));
    EXPECT_FALSE(joins_after([](RangeIndex &, Entry &entry) { entry.next_data.reset(); }));
    EXPECT_FALSE(joins_after([](RangeIndex &, Entry &entry) { entry.data = entry.data.share(1); }));
    EXPECT_FALSE(joins_after([](RangeIndex &, Entry &entry) { entry.stage = Stage::leaving; }));
}

TEST(RangeIndex, JoinsNothingAcrossAGapOrAtTheEnds) {
    RangeIndex index;
    EXPECT_EQ(index.merge_before(index.end()), index.end());
    const Labels parent = {.restoration = Restoration::parent};
    put(index, {10, 20}, parent);
    put(index, {21, 30}, parent);
    EXPECT_EQ(index.merge_before(index.begin()), index.begin());
    EXPECT_EQ(index.merge_before(index.find(25)), index.find(25));
    EXPECT_EQ(index.merge_before(index.end()), index.end());
    EXPECT_EQ(ranges_of(index).size(), 2u);
    put(index, {20, 21}, parent);
    EXPECT_EQ(index.merge_before(index.find(20))->second->range, (Range{10, 21}));
    EXPECT_EQ(index.merge_before(index.find(21))->second->range, (Range{10, 30}));
    EXPECT_EQ(ranges_of(index), (Ranges{{10, 30}}));
}

TEST(RangeIndex, MergingUndoesSplitting) {
    std::mt19937 random(4);
    for (int round = 0; round < 100; ++round) {
        RangeIndex index;
        for (uintptr_t at = 0; at < 200; at += 20) {
            put(index, {at, at + 20}, {.access = static_cast<addr_type>(random() % 2), .call = at});
        }
        const auto ranges = ranges_of(index);
        const auto before = bytes_of(index);
        const Ranges listed = in_list(index.read_write());
        for (int i = 0; i < 20; ++i) {
            index.split(index.end(), random() % 200);
        }
        for (auto at = index.begin(); at != index.end(); ++at) {
            at = index.merge_before(at);
        }
        ASSERT_EQ(ranges_of(index), ranges);
        ASSERT_EQ(bytes_of(index), before);
        ASSERT_EQ(in_list(index.read_write()), listed);
    }
}

TEST(RangeIndex, ErasesAndReleases) {
    RangeIndex index;
    put(index, {10, 20});
    Entry &middle = put(index, {20, 30});
    put(index, {30, 40});
    EXPECT_EQ(index.release(index.find(20))->second->range, (Range{30, 40}));
    EXPECT_EQ(middle.range, (Range{20, 30})); // still there, and ours
    EntryPool::destroy(&middle);
    EXPECT_EQ(index.erase(index.find(10))->second->range, (Range{30, 40}));
    index.clear();
    EXPECT_TRUE(index.empty());
}

TEST(RangeIndex, AbandonsItsEntriesAndListsWithTheirMemory) {
    RangeIndex new_owner;
    RangeIndex old_owner; // ends first
    Entry &entry = put(old_owner, {10, 20}, {.access = CD_READ_WRITE});
    new_owner.insert(new_owner.end(), &entry);
    old_owner.abandon_to(new_owner);
    EXPECT_TRUE(old_owner.empty());
    EXPECT_TRUE(old_owner.read_write().empty());
    EXPECT_EQ(new_owner.begin()->second, &entry);
}

} // namespace
} // namespace cd
