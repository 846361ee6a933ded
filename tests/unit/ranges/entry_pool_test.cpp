// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "ranges/entry_pool.h"

#include "../replaced_system.h"
#include "os/system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <new>
#include <random>
#include <utility>
#include <vector>

namespace cd {
namespace {

using Pointers = std::vector<EntryPool::Pointer>;

constexpr size_t many = 2000; // more than one slab of mapped pages

Pointers make(EntryPool &pool, size_t count) {
    Pointers entries;
    for (size_t i = 0; i < count; ++i) {
        entries.push_back(pool.make());
        entries.back()->range = {i, i + 1};
    }
    return entries;
}

size_t mapped_after_trim(CountedPages &pages) {
    PagePool::instance().trim();
    return pages.mapped;
}

TEST(EntryPool, EntriesAreApartAndStayWhereTheyAreWhateverComesAndGoes) {
    EntryPool pool;
    std::mt19937 random(2);
    std::vector<std::pair<EntryPool::Pointer, uintptr_t>> entries;
    for (uintptr_t step = 1; step < 20'000; ++step) {
        if (entries.empty() || random() % 100 < (step < 10'000 ? 60 : 40)) {
            entries.emplace_back(pool.make(), step);
            entries.back().first->range = {step, step + 1};
        } else {
            std::swap(entries[random() % entries.size()], entries.back());
            ASSERT_EQ(entries.back().first->range.begin, entries.back().second);
            entries.pop_back();
        }
    }
    for (const auto &[entry, number] : entries) {
        ASSERT_EQ(entry->range.begin, number);
    }
}

TEST(EntryPool, AnEntryIsAsNewWhereAnotherWas) {
    EntryPool pool;
    auto keeps_the_slab = pool.make();
    auto entry = pool.make();
    const Entry *place = entry.get();
    entry->in_place = entry->listed = true;
    entry->stage = Stage::leaving;
    entry.reset();
    entry = pool.make();
    ASSERT_EQ(entry.get(), place);
    EXPECT_FALSE(entry->in_place || entry->listed);
    EXPECT_EQ(entry->stage, Stage::held);
    EXPECT_EQ(entry->next, nullptr);
}

TEST(EntryPool, AFewEntriesTakeNoPagesAndManyDo) {
    CountedPages pages;
    EntryPool pool;
    const auto few = make(pool, 10);
    EXPECT_EQ(pages.mapped, 0u);
    const auto more = make(pool, many);
    EXPECT_GT(pages.mapped, 0u);
    EXPECT_LT(pages.mapped, 2 * many * sizeof(Entry));
}

TEST(EntryPool, VeryManyEntriesTakeHugePagesAndHardlyMoreThanTheirSize) {
    CountedPages pages;
    EntryPool pool;
    constexpr size_t before = 4 * huge_page / sizeof(Entry) + 1;
    auto entries = make(pool, before);
    const size_t mapped = pages.mapped;
    const size_t maps = pages.maps;
    constexpr size_t more = 10 * huge_page / sizeof(Entry);
    auto others = make(pool, more);
    EXPECT_EQ(others.back()->range.begin, more - 1);
    EXPECT_LE(pages.maps - maps, 11u);
    EXPECT_EQ((pages.mapped - mapped) % huge_page, 0u);
    EXPECT_LE(pages.mapped - mapped, 11 * huge_page);
    entries.clear();
    others.clear();
    EXPECT_EQ(mapped_after_trim(pages), 0u);
}

TEST(EntryPool, MemoryIsGivenBackSlabBySlab) {
    CountedPages pages;
    EntryPool pool;
    auto entries = make(pool, many);
    const size_t all = pages.mapped;
    entries.erase(entries.end() - 700, entries.end());
    EXPECT_LT(mapped_after_trim(pages), all);
    EXPECT_GT(pages.mapped, 0u);
    entries.clear();
    EXPECT_EQ(mapped_after_trim(pages), 0u);
}

TEST(EntryPool, WithoutMemoryNothingChanges) {
    CountedPages pages;
    EntryPool pool;
    Pointers entries;
    pages.allowed_maps = 0;
    EXPECT_THROW(
        for (size_t i = 0; i < many; ++i) { entries.push_back(pool.make()); }, std::bad_alloc);
    EXPECT_LT(entries.size(), many);
    pages.allowed_maps = SIZE_MAX;
    entries.push_back(pool.make());
    entries.clear();
    EXPECT_EQ(mapped_after_trim(pages), 0u);
}

TEST(EntryPool, EntriesOutliveAPoolThatAnotherHasAbsorbed) {
    CountedPages pages;
    EntryPool parent;
    auto child = std::make_unique<EntryPool>();
    auto parents = make(parent, 10);
    auto childs = make(*child, many);
    childs.erase(childs.begin() + 5, childs.begin() + 100);
    parent.absorb(*child);
    child.reset();
    childs.erase(childs.begin() + 500, childs.begin() + 600); // from slabs that were full
    EXPECT_EQ(childs[5]->range.begin, 100u);
    const size_t before = pages.maps;
    const auto more = make(parent, 195); // where those were
    EXPECT_EQ(pages.maps, before);
    EXPECT_EQ(more.back()->range.begin, 194u);
    EXPECT_EQ(childs.back()->range.begin, many - 1);
    parents.clear();
    childs.clear();
    EXPECT_EQ(more.front()->range.begin, 0u);
}

} // namespace
} // namespace cd
