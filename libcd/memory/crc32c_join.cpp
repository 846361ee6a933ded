// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "memory/crc32c_join.h"

namespace cd {
namespace {

// Polynomials modulo that of the checksum. As everywhere in CRC-32C the top bit is the lowest
// power.
constexpr uint32_t reversed_polynomial = 0x82F63B78;
constexpr uint32_t one = 0x80000000;
constexpr uint32_t x_to_the_8th = one >> 8;

constexpr uint32_t multiply(uint32_t a, uint32_t b) {
    uint32_t product = 0;
    for (; a != 0; a <<= 1) {
        product ^= (a & one) != 0 ? b : 0;
        b = (b >> 1) ^ ((b & 1) != 0 ? reversed_polynomial : 0);
    }
    return product;
}

constexpr uint32_t power(uint32_t base, uint64_t exponent) {
    uint32_t result = one;
    for (; exponent != 0; exponent >>= 1) {
        result = (exponent & 1) != 0 ? multiply(result, base) : result;
        base = multiply(base, base);
    }
    return result;
}

} // namespace

// The second part moves the first one up by its length; what is added to both at their ends
// cancels.
uint32_t join_crc32c(uint32_t first, uint32_t second, uint64_t second_length) noexcept {
    return multiply(first, power(x_to_the_8th, second_length)) ^ second;
}

} // namespace cd
