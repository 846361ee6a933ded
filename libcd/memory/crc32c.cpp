// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "memory/crc32c.h"

#ifdef CD_HAVE_ISAL
#include "base/isa_l.h"
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace cd {

namespace {

// Slicing by 8: slices[k][b] is what the byte b contributes k bytes later.
using Slices = std::array<std::array<uint32_t, 256>, 8>;

constexpr Slices make_slices() {
    constexpr uint32_t reversed_polynomial = 0x82F63B78;
    Slices slices{};
    for (uint32_t byte = 0; byte < 256; ++byte) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? reversed_polynomial : 0);
        }
        slices[0][byte] = crc;
    }
    for (size_t k = 1; k < slices.size(); ++k) {
        for (size_t byte = 0; byte < 256; ++byte) {
            const uint32_t before = slices[k - 1][byte];
            slices[k][byte] = (before >> 8) ^ slices[0][before & 0xFF];
        }
    }
    return slices;
}

constexpr Slices slices = make_slices();

uint64_t load_little_endian(const std::byte *at) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    if constexpr (std::endian::native == std::endian::big) {
        word = __builtin_bswap64(word);
    }
    return word;
}

} // namespace

uint32_t crc32c_portable(uint32_t seed, const void *data, size_t length) noexcept {
    const auto *at = static_cast<const std::byte *>(data);
    uint32_t crc = ~seed;
    for (; length >= 8; at += 8, length -= 8) {
        const uint64_t word = load_little_endian(at) ^ crc;
        crc = 0;
        for (size_t k = 0; k < 8; ++k) {
            crc ^= slices[7 - k][(word >> (8 * k)) & 0xFF];
        }
    }
    for (; length > 0; ++at, --length) {
        crc = (crc >> 8) ^ slices[0][(crc ^ std::to_integer<uint32_t>(*at)) & 0xFF];
    }
    return ~crc;
}

#ifdef CD_HAVE_ISAL

uint32_t crc32c(uint32_t seed, const void *data, size_t length) noexcept {
    constexpr size_t largest = size_t{1} << 30; // ISA-L takes the length as an int
    const auto *at = static_cast<const std::byte *>(data);
    uint32_t crc = ~seed;
    while (length > 0) {
        const size_t part = std::min(length, largest);
        crc = isa_l::crc32c(crc, at, static_cast<int>(part));
        at += part;
        length -= part;
    }
    return ~crc;
}

#else

uint32_t crc32c(uint32_t seed, const void *data, size_t length) noexcept {
    return crc32c_portable(seed, data, length);
}

#endif

} // namespace cd
