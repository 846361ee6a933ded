// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/erasure_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>

namespace cd::redset {
namespace {

struct alignas(coding_alignment) Line {
    std::byte bytes[coding_alignment];
};

// Buffers of a length, each with a few bytes behind it that nobody may touch.
class Buffers {
public:
    Buffers(size_t count, size_t length, std::mt19937 &random)
        : lines_(length / sizeof(Line) + 2), storage_(count * lines_) {
        for (size_t i = 0; i < count; ++i) {
            pointers_.push_back(storage_[i * lines_].bytes);
            std::generate_n(pointers_.back(), lines_ * sizeof(Line),
                            [&] { return static_cast<std::byte>(random()); });
        }
    }
    Buffers(const Buffers &) = delete;

    std::byte *const *pointers() { return pointers_.data(); }
    std::byte *at(size_t i) { return pointers_[i]; }
    size_t capacity() const { return lines_ * sizeof(Line); }

private:
    size_t lines_;
    std::vector<Line> storage_;
    std::vector<std::byte *> pointers_;
};

Matrix random_matrix(size_t rows, size_t columns, std::mt19937 &random) {
    Matrix matrix(rows, columns);
    for (size_t r = 0; r < rows; ++r) {
        for (size_t c = 0; c < columns; ++c) {
            matrix.at(r, c) = static_cast<uint8_t>(random());
        }
    }
    return matrix;
}

Matrix ones(size_t rows, size_t columns) {
    Matrix matrix(rows, columns);
    for (size_t r = 0; r < rows; ++r) {
        for (size_t c = 0; c < columns; ++c) {
            matrix.at(r, c) = 1;
        }
    }
    return matrix;
}

constexpr size_t lengths[] = {0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 255, 1000, 4097};
constexpr size_t few_lengths[] = {1, 33, 100};

void expect_definition(const Matrix &coefficients, size_t sources, size_t outputs,
                       std::mt19937 &random, std::span<const size_t> of_lengths = lengths) {
    ErasureCode coder(coefficients, sources, outputs);
    for (const size_t length : of_lengths) {
        Buffers from(sources, length, random);
        Buffers chosen(outputs, length, random);
        Buffers portable(outputs, length, random);
        std::vector<std::byte> behind(chosen.at(0) + length, chosen.at(0) + chosen.capacity());
        coder.code(length, from.pointers(), chosen.pointers());
        coder.code_portable(length, from.pointers(), portable.pointers());
        for (size_t i = 0; i < outputs; ++i) {
            for (size_t at = 0; at < length; ++at) {
                uint8_t sum = 0;
                for (size_t s = 0; s < sources; ++s) {
                    sum ^=
                        multiply(coefficients.at(i, s), std::to_integer<uint8_t>(from.at(s)[at]));
                }
                ASSERT_EQ(std::to_integer<int>(portable.at(i)[at]), sum) << length << " " << at;
                ASSERT_EQ(std::to_integer<int>(chosen.at(i)[at]), sum) << length << " " << at;
            }
        }
        EXPECT_TRUE(std::equal(behind.begin(), behind.end(), chosen.at(0) + length)) << length;
    }
}

TEST(ErasureCode, ChosenAndPortableAreTheDefinition) {
    std::mt19937 random(1);
    for (size_t sources = 0; sources < 13; ++sources) {
        for (size_t outputs = 1; outputs < 8; ++outputs) {
            SCOPED_TRACE(sources * 100 + outputs);
            expect_definition(random_matrix(outputs, sources, random), sources, outputs, random);
        }
    }
}

TEST(ErasureCode, AddsWhatHasTheCoefficientOne) {
    std::mt19937 random(2);
    for (const size_t sources : {0, 1, 2, 3, 7, 254, 255, 256, 1000}) {
        SCOPED_TRACE(sources);
        expect_definition(ones(1, sources), sources, 1, random);
    }
    expect_definition(ones(3, 4), 4, 3, random);
}

TEST(ErasureCode, TakesAsManyAsTheFieldHas) {
    std::mt19937 random(3);
    expect_definition(random_matrix(128, 128, random), 128, 128, random, few_lengths);
    expect_definition(random_matrix(1, 255, random), 255, 1, random);
}

} // namespace
} // namespace cd::redset
