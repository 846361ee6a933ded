// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/gf256.h"

#include <cstddef>
#include <vector>

namespace cd::redset {

// Returns the Reed-Solomon coefficients: row j, column p is the factor of member p's data in
// checksum block j. Any members' data, with as many rows as there are other members, determine all
// data. members + checks <= 256.
Matrix reed_solomon_rows(size_t members, size_t checks);

// Buffers for data to be coded begin at a multiple of this.
constexpr size_t coding_alignment = 64;

// Computes output i as the sum over all sources s of coefficients.at(i, s) times source s, byte by
// byte. Without sources outputs are zeros.
class ErasureCode {
public:
    // May throw std::bad_alloc.
    ErasureCode(Matrix coefficients, size_t sources, size_t outputs);

    // Codes a piece of at most 1 GiB. Buffers must not overlap. Pieces that fit the cache are
    // fastest.
    void code(size_t length, std::byte *const *sources, std::byte *const *outputs) noexcept;

    // Gives the same result without ISA-L.
    void code_portable(size_t length, std::byte *const *sources,
                       std::byte *const *outputs) const noexcept;

    // Returns the name of what code() uses.
    static const char *kernel() noexcept;

private:
    bool all_ones() const;

    Matrix coefficients_;
    size_t sources_;
    size_t outputs_;
    bool is_sum_;
    bool is_copy_;
    std::vector<unsigned char> tables_; // ISA-L's, and the arguments of its functions
    std::vector<void *> for_sum_;
    std::vector<unsigned char *> from_;
    std::vector<unsigned char *> to_;
};

} // namespace cd::redset
