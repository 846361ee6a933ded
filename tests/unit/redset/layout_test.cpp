// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/layout.h"

#include <gtest/gtest.h>

#include <vector>

namespace cd::redset {
namespace {

// Each makes one row of many, and would work out the others in vain.
TEST(Plan, OnlyTheRowsThatAMemberMakesAreSolvedForIt) {
    const Layout layout({Scheme::reed_solomon, 6, 2}, {50, 40, 30, 20, 10, 60});
    const std::vector<Lost> lost{{}, {true, true}, {}, {}, {true, false}, {}};
    std::vector<Row> all;
    ASSERT_TRUE(rebuilding_rows(layout, lost, all));
    ASSERT_EQ(all.size(), 5U);
    for (int maker = static_cast<int>(Makers::none); maker < layout.coding.members; ++maker) {
        std::vector<Row> rows;
        ASSERT_TRUE(rebuilding_rows(layout, lost, rows, only(maker)));
        ASSERT_EQ(rows.size(), all.size());
        for (size_t i = 0; i < rows.size(); ++i) {
            EXPECT_EQ(rows[i].sources, all[i].sources);
            EXPECT_EQ(rows[i].outputs, all[i].outputs);
            EXPECT_EQ(rows[i].coefficients,
                      rows[i].maker == maker ? all[i].coefficients : Matrix());
        }
    }
}

// A rank that has nothing, beside one that has much, costs nothing.
TEST(Plan, WhatIsBehindTheEndOfALogicalFileIsNotASource) {
    for (const Row &row : encoding_rows(Layout({Scheme::xor_set, 4, 1}, {3000, 0, 0, 1}))) {
        for (const Item &source : row.sources) {
            EXPECT_GT(source.length, 0u);
            EXPECT_TRUE(source.member == 0 || source.member == 3);
        }
    }
}

} // namespace
} // namespace cd::redset
