// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "entries.h"
#include "ranges/entry.h"

#include <gtest/gtest.h>

#include <functional>

namespace cd {
namespace {

int some_regen(cd_addrspec *, int) { return 0; }

TEST(Entry, IsAlikeOnlyWithTheSameLabelsAndOrigin) {
    const auto differs = [](const std::function<void(Entry &)> &change) {
        const Entry one;
        Entry other;
        change(other);
        return !one.alike(other) && !other.alike(one);
    };
    EXPECT_FALSE(differs([](Entry &entry) { entry.range = {5, 10}; }));
    EXPECT_TRUE(differs([](Entry &entry) { entry.restoration = Restoration::regen; }));
    EXPECT_TRUE(differs([](Entry &entry) { entry.access = CD_READ_WRITE; }));
    EXPECT_TRUE(differs([](Entry &entry) { entry.scope = CD_CONSTRAINED; }));
    EXPECT_TRUE(differs([](Entry &entry) { entry.regen = some_regen; }));
    EXPECT_TRUE(differs([](Entry &entry) { entry.origin.call = 1; }));
    EXPECT_TRUE(differs([](Entry &entry) { entry.origin.element = 1; }));
    EXPECT_TRUE(differs([](Entry &entry) { entry.origin.elements = 2; }));
}

TEST(Entry, SecondPartHasTheSameLabelsAndTheRestOfTheData) {
    RangeIndex index;
    Entry &entry = put(index, {100, 200}, {.scope = CD_CONSTRAINED, .call = 7});
    entry.next_data = entry.data.share();
    entry.regen = some_regen;
    entry.data_shared = true;
    entry.in_place = true;
    Entry part;
    entry.share_second_part(130, part);
    EXPECT_EQ(part.range, (Range{130, 200}));
    EXPECT_TRUE(part.alike(entry));
    EXPECT_EQ(part.data.at(), entry.data.at() + 30);
    EXPECT_EQ(part.next_data.at(), entry.next_data.at() + 30);
    EXPECT_TRUE(part.data_shared);
    EXPECT_TRUE(part.in_place);
    EXPECT_EQ(part.stage, Stage::held);
    EXPECT_FALSE(part.listed);
}

TEST(Entry, CopiedLabelsHaveNoData) {
    RangeIndex index;
    const Entry &entry = put(index, {100, 200}, {.call = 7});
    Entry copy;
    entry.copy_labels({500, 510}, copy);
    EXPECT_EQ(copy.range, (Range{500, 510}));
    EXPECT_TRUE(copy.alike(entry));
    EXPECT_FALSE(copy.data);
    EXPECT_FALSE(copy.next_data);
}

} // namespace
} // namespace cd
