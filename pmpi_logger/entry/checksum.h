// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "store/crc32c.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cd::logger {

// Of what is sent, and of strings: told apart from other contents, not protected from forgery. A
// few bytes, as most programs send, are mixed at once.
inline uint64_t checksum(const void *data, size_t size, uint64_t so_far = 0) {
    const auto *bytes = static_cast<const std::byte *>(data);
    uint64_t first = 0;
    uint64_t last = 0;
    if (size > 2 * sizeof(uint64_t)) {
        return crc32c(static_cast<uint32_t>(so_far ^ so_far >> 32), data, size);
    }
    if (size >= sizeof(uint64_t)) {
        std::memcpy(&first, bytes, sizeof first);
        std::memcpy(&last, bytes + size - sizeof last, sizeof last);
    } else if (size >= sizeof(uint32_t)) {
        std::memcpy(&first, bytes, sizeof(uint32_t));
        std::memcpy(&last, bytes + size - sizeof(uint32_t), sizeof(uint32_t));
    } else if (size > 0) { // all of up to three bytes
        first = static_cast<uint64_t>(bytes[0]);
        last = static_cast<uint64_t>(bytes[size / 2]) << 8 | static_cast<uint64_t>(bytes[size - 1]);
    }
    // Odd numbers without a pattern: the fractional parts of the square roots of 2 and 3.
    constexpr uint64_t one = 0x6A09E667F3BCC909;
    constexpr uint64_t other = 0xBB67AE8584CAA73B;
    __extension__ using Wide = unsigned __int128;
    const Wide product = Wide{first ^ so_far ^ one} * (last ^ size ^ other);
    return static_cast<uint64_t>(product >> 64) ^ static_cast<uint64_t>(product);
}

} // namespace cd::logger
