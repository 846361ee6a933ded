// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/kvtree.h"

#include <gtest/gtest.h>

namespace cd::redset {
namespace {

TEST(KvTree, SortsEveryLevelByBytes) {
    KvTree tree;
    for (const char *key : {"b", "10", "\xff", "", "2"}) {
        KvTree &below = tree.add(key);
        below.add("z");
        below.add("a");
    }
    tree.sort();
    std::string order;
    for (const auto &[key, below] : tree.elements()) {
        order += key + ",";
        EXPECT_EQ(below.elements().front().key, "a");
    }
    EXPECT_EQ(order, ",10,2,b,\xff,");
}

TEST(KvTree, AValueIsTheOnlyKeyBelow) {
    KvTree tree;
    tree.add_value("one", "x");
    tree.add("none");
    KvTree &two = tree.add("two");
    two.add("a");
    two.add("b");
    EXPECT_EQ(tree.value("one"), "x");
    EXPECT_EQ(tree.value("none"), std::nullopt);
    EXPECT_EQ(tree.value("two"), std::nullopt);
    EXPECT_EQ(tree.value("absent"), std::nullopt);
}

TEST(KvTree, NumbersAreDecimalAndWhole) {
    KvTree tree;
    tree.add_number("largest", UINT64_MAX);
    EXPECT_EQ(tree.value("largest"), "18446744073709551615");
    EXPECT_EQ(tree.number("largest"), UINT64_MAX);
    for (const char *text : {"", "-1", "+1", "0x10", "1 ", " 1", "1.", "18446744073709551616"}) {
        EXPECT_EQ(to_number(text), std::nullopt) << text;
    }
    EXPECT_EQ(to_number("0010"), 10u);
}

} // namespace
} // namespace cd::redset
