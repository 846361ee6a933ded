// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/scheme.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cd::redset {
namespace {

bool fits(Scheme scheme, int members, int checks) {
    const Status status = check_coding({scheme, members, checks});
    if (!status) {
        EXPECT_EQ(status.code(), CD_ERROR_ARGUMENT);
        EXPECT_NE(std::string(message()).find(scheme_name(scheme)), std::string::npos);
    }
    return status.is_ok();
}

TEST(Coding, WhatASchemeDoesNotAllowIsAnError) {
    EXPECT_TRUE(fits(Scheme::single, 1, 0));
    EXPECT_FALSE(fits(Scheme::single, 2, 0));
    EXPECT_TRUE(fits(Scheme::partner, 2, 1));
    EXPECT_FALSE(fits(Scheme::partner, 2, 2));
    EXPECT_FALSE(fits(Scheme::partner, 2, 0));
    EXPECT_TRUE(fits(Scheme::xor_set, 2, 1));
    EXPECT_FALSE(fits(Scheme::xor_set, 1, 1));
    EXPECT_FALSE(fits(Scheme::xor_set, 3, 2));
    EXPECT_TRUE(fits(Scheme::reed_solomon, 2, 1));
    EXPECT_TRUE(fits(Scheme::reed_solomon, 255, 1));
    EXPECT_TRUE(fits(Scheme::reed_solomon, 129, 127));
    EXPECT_FALSE(fits(Scheme::reed_solomon, 256, 1));
    EXPECT_FALSE(fits(Scheme::reed_solomon, 4, 4));
    EXPECT_FALSE(fits(Scheme::reed_solomon, 4, 0));
    EXPECT_FALSE(fits(Scheme::reed_solomon, -4, -5));
    EXPECT_FALSE(fits(Scheme::none, 1, 0));
}

TEST(Coding, NamesAreReadInLettersOfAnySize) {
    for (const char *name : {"XOR", "xor", "Xor"}) {
        EXPECT_EQ(scheme_named(name), Scheme::xor_set);
    }
    EXPECT_EQ(scheme_named("rs"), Scheme::reed_solomon);
    EXPECT_EQ(scheme_named("Partner"), Scheme::partner);
    EXPECT_EQ(scheme_named("single"), Scheme::single);
    for (const char *name : {"", "NONE", "XORX", "XO"}) {
        EXPECT_EQ(scheme_named(name), Scheme::none) << name;
    }
}

TEST(Coding, ChunksHoldTheLargestLogicalFile) {
    const auto chunk = [](int members, int checks, std::vector<uint64_t> sizes) {
        return chunk_size({Scheme::reed_solomon, members, checks}, sizes);
    };
    EXPECT_EQ(chunk(4, 1, {4333, 5003, 0, 0}), 1668u);
    EXPECT_EQ(chunk(4, 2, {4333, 5003, 0, 0}), 2502u);
    EXPECT_EQ(chunk(3, 2, {0, 0, 0}), 1u);
    EXPECT_EQ(chunk(3, 1, {4, 4, 4}), 2u);
    EXPECT_EQ(chunk(2, 1, {UINT64_MAX, 0}), UINT64_MAX);
}

} // namespace
} // namespace cd::redset
