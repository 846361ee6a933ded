// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/erasure_code.h"

#ifdef CD_HAVE_ISAL
#include "base/isa_l.h"
#endif

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace cd::redset {
namespace {

void add(std::byte *to, const std::byte *from, size_t length) {
    for (size_t i = 0; i < length; ++i) {
        to[i] ^= from[i];
    }
}

void add_multiple(std::byte *to, const std::byte *from, uint8_t factor, size_t length) {
    std::array<std::byte, 256> multiples;
    for (size_t i = 0; i < multiples.size(); ++i) {
        multiples[i] = std::byte{multiply(static_cast<uint8_t>(i), factor)};
    }
    for (size_t i = 0; i < length; ++i) {
        to[i] ^= multiples[std::to_integer<size_t>(from[i])];
    }
}

} // namespace

// Lagrange's form of the polynomial through the members' data at 0, 1, ..., evaluated at the places
// behind them.
Matrix reed_solomon_rows(size_t members, size_t checks) {
    Matrix rows(checks, members);
    for (size_t j = 0; j < checks; ++j) {
        for (size_t p = 0; p < members; ++p) {
            uint8_t coefficient = 1;
            for (size_t m = 0; m < members; ++m) {
                if (m != p) {
                    const auto above = static_cast<uint8_t>((members + j) ^ m);
                    const auto below = static_cast<uint8_t>(p ^ m);
                    coefficient = multiply(coefficient, multiply(above, inverse(below)));
                }
            }
            rows.at(j, p) = coefficient;
        }
    }
    return rows;
}

bool ErasureCode::all_ones() const {
    return std::all_of(coefficients_.data(), coefficients_.data() + sources_ * outputs_,
                       [](uint8_t coefficient) { return coefficient == 1; });
}

void ErasureCode::code_portable(size_t length, std::byte *const *sources,
                                std::byte *const *outputs) const noexcept {
    for (size_t i = 0; i < outputs_; ++i) {
        std::memset(outputs[i], 0, length);
        for (size_t s = 0; s < sources_; ++s) {
            if (const uint8_t factor = coefficients_.at(i, s); factor == 1) {
                add(outputs[i], sources[s], length);
            } else if (factor != 0) {
                add_multiple(outputs[i], sources[s], factor, length);
            }
        }
    }
}

ErasureCode::ErasureCode(Matrix coefficients, size_t sources, size_t outputs)
    : coefficients_(std::move(coefficients)), sources_(sources), outputs_(outputs),
      is_sum_(outputs == 1 && all_ones()), is_copy_(sources == 1 && all_ones()),
      for_sum_(sources + 1), from_(sources), to_(outputs) {
#ifdef CD_HAVE_ISAL
    if (!is_sum_ && sources > 0) {
        tables_.resize(isa_l::table_size * sources * outputs);
        isa_l::make_tables(static_cast<int>(sources), static_cast<int>(outputs),
                           coefficients_.data(), tables_.data());
    }
#endif
}

void ErasureCode::code(size_t length, std::byte *const *sources,
                       std::byte *const *outputs) noexcept {
#ifdef CD_HAVE_ISAL
    if (is_copy_) {
        for (size_t i = 0; i < outputs_; ++i) {
            std::memcpy(outputs[i], sources[0], length);
        }
        return;
    }
    if (is_sum_ && sources_ > 0) {
        std::copy_n(sources, sources_, for_sum_.begin());
        for_sum_[sources_] = outputs[0];
        isa_l::sum(static_cast<int>(sources_ + 1), static_cast<int>(length), for_sum_.data());
        return;
    }
    if (!tables_.empty()) {
        const auto plain = [](std::byte *at) { return reinterpret_cast<unsigned char *>(at); };
        std::transform(sources, sources + sources_, from_.begin(), plain);
        std::transform(outputs, outputs + outputs_, to_.begin(), plain);
        isa_l::encode(static_cast<int>(length), static_cast<int>(sources_),
                      static_cast<int>(outputs_), tables_.data(), from_.data(), to_.data());
        return;
    }
#endif
    code_portable(length, sources, outputs);
}

const char *ErasureCode::kernel() noexcept {
#ifdef CD_HAVE_ISAL
    return "isa-l";
#else
    return "portable";
#endif
}

} // namespace cd::redset
