// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cd::redset {

// The field with 256 elements that redset and ISA-L share: polynomial 0x11D, generator 2. Its
// addition is exclusive or.
uint8_t multiply(uint8_t a, uint8_t b) noexcept;
uint8_t inverse(uint8_t a) noexcept; // a != 0

// A small matrix over the field, row by row.
class Matrix {
public:
    Matrix() = default;
    Matrix(size_t rows, size_t columns) : columns_(columns), elements_(rows * columns) {}

    size_t rows() const { return columns_ == 0 ? 0 : elements_.size() / columns_; }
    size_t columns() const { return columns_; }
    uint8_t &at(size_t row, size_t column) { return elements_[row * columns_ + column]; }
    uint8_t at(size_t row, size_t column) const { return elements_[row * columns_ + column]; }
    const uint8_t *data() const { return elements_.data(); }
    bool operator==(const Matrix &) const = default;

private:
    size_t columns_ = 0;
    std::vector<uint8_t> elements_;
};

Matrix operator*(const Matrix &a, const Matrix &b);
Matrix inverse(Matrix square); // must have one

} // namespace cd::redset
