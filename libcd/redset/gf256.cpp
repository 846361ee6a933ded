// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/gf256.h"

#include <array>
#include <utility>

namespace cd::redset {
namespace {

struct Tables {
    std::array<uint8_t, 510> power{}; // twice around, so that sums of logarithms need no modulus
    std::array<uint8_t, 256> logarithm{};
};

constexpr Tables make_tables() {
    Tables tables;
    unsigned value = 1;
    for (unsigned i = 0; i < 255; ++i) {
        tables.power[i] = tables.power[i + 255] = static_cast<uint8_t>(value);
        tables.logarithm[value] = static_cast<uint8_t>(i);
        value <<= 1;
        if (value > 255) {
            value ^= 0x11D;
        }
    }
    return tables;
}

constexpr Tables tables = make_tables();

void swap_rows(Matrix &matrix, size_t a, size_t b) {
    for (size_t c = 0; c < matrix.columns(); ++c) {
        std::swap(matrix.at(a, c), matrix.at(b, c));
    }
}

void scale_row(Matrix &matrix, size_t row, uint8_t factor) {
    for (size_t c = 0; c < matrix.columns(); ++c) {
        matrix.at(row, c) = multiply(matrix.at(row, c), factor);
    }
}

void add_row(Matrix &matrix, size_t to, size_t from, uint8_t factor) {
    for (size_t c = 0; c < matrix.columns(); ++c) {
        matrix.at(to, c) ^= multiply(matrix.at(from, c), factor);
    }
}

Matrix identity(size_t size) {
    Matrix matrix(size, size);
    for (size_t i = 0; i < size; ++i) {
        matrix.at(i, i) = 1;
    }
    return matrix;
}

} // namespace

uint8_t multiply(uint8_t a, uint8_t b) noexcept {
    if (a == 0 || b == 0) {
        return 0;
    }
    return tables.power[size_t{tables.logarithm[a]} + tables.logarithm[b]];
}

uint8_t inverse(uint8_t a) noexcept { return tables.power[255 - tables.logarithm[a]]; }

Matrix operator*(const Matrix &a, const Matrix &b) {
    Matrix product(a.rows(), b.columns());
    for (size_t r = 0; r < a.rows(); ++r) {
        for (size_t c = 0; c < b.columns(); ++c) {
            for (size_t i = 0; i < a.columns(); ++i) {
                product.at(r, c) ^= multiply(a.at(r, i), b.at(i, c));
            }
        }
    }
    return product;
}

// Gauss-Jordan elimination.
Matrix inverse(Matrix left) {
    const size_t size = left.rows();
    Matrix right = identity(size);
    for (size_t i = 0; i < size; ++i) {
        size_t pivot = i;
        while (left.at(pivot, i) == 0) {
            ++pivot;
        }
        swap_rows(left, i, pivot);
        swap_rows(right, i, pivot);
        const uint8_t factor = inverse(left.at(i, i));
        scale_row(left, i, factor);
        scale_row(right, i, factor);
        for (size_t r = 0; r < size; ++r) {
            if (const uint8_t other = left.at(r, i); r != i && other != 0) {
                add_row(left, r, i, other);
                add_row(right, r, i, other);
            }
        }
    }
    return right;
}

} // namespace cd::redset
