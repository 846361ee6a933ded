// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "memory/crc32c.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace cd {
namespace {

TEST(JoinCrc32c, IsTheChecksumOfBothParts) {
    std::mt19937 random(1);
    std::vector<uint8_t> bytes(5000);
    for (uint8_t &byte : bytes) {
        byte = static_cast<uint8_t>(random());
    }
    const uint32_t whole = crc32c(0, bytes.data(), bytes.size());
    for (size_t split = 0; split <= bytes.size(); split += split < 300 ? 1 : 97) {
        const size_t rest = bytes.size() - split;
        EXPECT_EQ(join_crc32c(crc32c(0, bytes.data(), split), crc32c(0, bytes.data() + split, rest),
                              rest),
                  whole)
            << split;
    }
}

TEST(JoinCrc32c, TakesLengthsOfMoreThan32Bits) {
    // Zeros of 2^33 bytes are twice zeros of 2^32 bytes, which are ...
    uint32_t crc = crc32c(0, "", 1);
    for (int bit = 0; bit < 33; ++bit) {
        crc = join_crc32c(crc, crc, uint64_t{1} << bit);
    }
    const uint32_t half = [] {
        uint32_t value = crc32c(0, "", 1);
        for (int bit = 0; bit < 32; ++bit) {
            value = join_crc32c(value, value, uint64_t{1} << bit);
        }
        return value;
    }();
    EXPECT_EQ(join_crc32c(half, half, uint64_t{1} << 32), crc);
    EXPECT_NE(half, crc);
}

} // namespace
} // namespace cd
