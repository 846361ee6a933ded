// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/gf256.h"

#include "redset/erasure_code.h"

#include <gtest/gtest.h>

#include <vector>

namespace cd::redset {
namespace {

// By the schoolbook, bit by bit.
uint8_t product(unsigned a, unsigned b) {
    unsigned sum = 0;
    for (; b != 0; b >>= 1) {
        sum ^= (b & 1) != 0 ? a : 0;
        a = (a << 1) ^ ((a & 0x80) != 0 ? 0x11D : 0);
    }
    return static_cast<uint8_t>(sum);
}

TEST(Galois, MultipliesAsPolynomialsDo) {
    for (unsigned a = 0; a < 256; ++a) {
        for (unsigned b = 0; b < 256; ++b) {
            ASSERT_EQ(multiply(static_cast<uint8_t>(a), static_cast<uint8_t>(b)), product(a, b));
        }
    }
}

TEST(Galois, EveryElementButZeroHasAnInverse) {
    for (unsigned a = 1; a < 256; ++a) {
        const auto element = static_cast<uint8_t>(a);
        ASSERT_EQ(product(a, inverse(element)), 1u);
    }
}

// The rows that were seen in upstream's matrices.
TEST(Galois, ReedSolomonRowsAreUpstreams) {
    const auto row = [](size_t members, size_t check) {
        const Matrix rows = reed_solomon_rows(members, check + 1);
        std::vector<int> elements;
        for (size_t p = 0; p < members; ++p) {
            elements.push_back(rows.at(check, p));
        }
        return elements;
    };
    using Row = std::vector<int>;
    EXPECT_EQ(row(2, 0), Row({3, 2}));
    EXPECT_EQ(row(3, 0), Row({1, 1, 1}));
    EXPECT_EQ(row(3, 1), Row({15, 8, 6}));
    EXPECT_EQ(row(4, 0), Row({27, 28, 18, 20}));
    EXPECT_EQ(row(4, 1), Row({28, 27, 20, 18}));
    EXPECT_EQ(row(4, 2), Row({18, 20, 27, 28}));
    EXPECT_EQ(row(5, 0), Row({7, 7, 6, 6, 1}));
    EXPECT_EQ(row(5, 1), Row({9, 8, 9, 8, 1}));
    EXPECT_EQ(row(5, 2), Row({15, 14, 14, 15, 1}));
    EXPECT_EQ(row(8, 0), Row({26, 132, 186, 51, 231, 16, 198, 39}));
    EXPECT_EQ(row(8, 1), Row({132, 26, 51, 186, 16, 231, 39, 198}));
}

TEST(Galois, InverseTimesMatrixIsIdentity) {
    for (size_t size = 0; size < 12; ++size) {
        const Matrix all = reed_solomon_rows(20, 12);
        Matrix square(size, size);
        Matrix identity(size, size);
        for (size_t r = 0; r < size; ++r) {
            identity.at(r, r) = 1;
            for (size_t c = 0; c < size; ++c) {
                square.at(r, c) = all.at(r, 19 - c);
            }
        }
        EXPECT_EQ(inverse(square) * square, identity) << size;
    }
}

TEST(Galois, InverseFindsAPivotBelowAZero) {
    Matrix square(2, 2);
    square.at(0, 1) = 5;
    square.at(1, 0) = 7;
    Matrix identity(2, 2);
    identity.at(0, 0) = identity.at(1, 1) = 1;
    EXPECT_EQ(inverse(square) * square, identity);
}

} // namespace
} // namespace cd::redset
