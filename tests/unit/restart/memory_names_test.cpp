// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "restart/memory_names.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace cd {
namespace {

class MemoryNamesTest : public testing::Test {
protected:
    uintptr_t address_of(const std::string &name) {
        return names_.find(format::NameKind::region, name, 0).address;
    }
    std::string name_at(Range range) {
        StoredName name;
        StoredKey key;
        EXPECT_TRUE(names_.describe(range, name, key));
        return name.text;
    }

    MemoryNames names_;
};

TEST_F(MemoryNamesTest, ANameThatCannotMoveStaysWhereItIs) {
    ASSERT_TRUE(names_.name_region("a", {0x1000, 0x1100}));
    ASSERT_TRUE(names_.name_region("b", {0x2000, 0x2100}));
    EXPECT_FALSE(names_.name_region("a", {0x2080, 0x2200}));
    EXPECT_EQ(address_of("a"), 0x1000U);
    EXPECT_EQ(name_at({0x1000, 0x1100}), "a");
    EXPECT_EQ(name_at({0x2000, 0x2100}), "b");
}

TEST_F(MemoryNamesTest, ANameMovesAlsoToWhereItPartlyIsAlready) {
    ASSERT_TRUE(names_.name_region("a", {0x1000, 0x1100}));
    ASSERT_TRUE(names_.name_region("b", {0x1200, 0x1300}));
    ASSERT_TRUE(names_.name_region("a", {0x1080, 0x1200}));
    EXPECT_EQ(address_of("a"), 0x1080U);
    EXPECT_EQ(name_at({0x1000, 0x1010}), "");
    EXPECT_EQ(name_at({0x1080, 0x1200}), "a");
    // The old place of "b" does not matter here; "a" lies before it.
    EXPECT_FALSE(names_.name_region("b", {0x1180, 0x1280}));
    EXPECT_EQ(address_of("b"), 0x1200U);
}

TEST_F(MemoryNamesTest, OfARangeWhatBelongsTogetherIsToldFirst) {
    ASSERT_TRUE(names_.name_region("a", {0x1000, 0x1100}));
    ASSERT_TRUE(names_.name_region("b", {0x1100, 0x1200}));
    std::string told;
    for (Range rest = {0xf00, 0x1300}; !rest.empty();) {
        Range part = rest;
        StoredName name;
        StoredKey key;
        ASSERT_TRUE(names_.describe(part, name, key));
        told += (!name.text.empty() ? name.text : "-") + " " + std::to_string(part.length()) + " ";
        rest.begin = part.end;
    }
    EXPECT_EQ(told, "- 256 a 256 b 256 - 256 ");
}

TEST_F(MemoryNamesTest, ANameIsTakenBackByLengthZero) {
    ASSERT_TRUE(names_.name_region("a", {0x1000, 0x1100}));
    ASSERT_TRUE(names_.name_region("a", {0, 0}));
    EXPECT_EQ(address_of("a"), 0U);
    EXPECT_EQ(name_at({0x1000, 0x1100}), "");
    EXPECT_TRUE(names_.name_region("b", {0x1080, 0x1090}));
}

} // namespace
} // namespace cd
