// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "memory/crc32c.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cd::logger {

// Mixes the first and last bytes of data of `size` bytes with the checksum so far.
inline uint64_t mix(uint64_t first, uint64_t last, size_t size, uint64_t so_far) {
    // Odd numbers without a pattern: the fractional parts of the square roots of 2 and 3.
    constexpr uint64_t one = 0x6A09E667F3BCC909;
    constexpr uint64_t other = 0xBB67AE8584CAA73B;
    __extension__ using Wide = unsigned __int128;
    const Wide product = Wide{first ^ so_far ^ one} * (last ^ size ^ other);
    return static_cast<uint64_t>(product >> 64) ^ static_cast<uint64_t>(product);
}

// The case of checksum() for 8 to 16 bytes.
constexpr bool is_mixed_at_once(size_t size) { return size - sizeof(uint64_t) <= sizeof(uint64_t); }
inline uint64_t mixed_at_once(const std::byte *bytes, size_t size, uint64_t so_far) {
    uint64_t first = 0;
    uint64_t last = 0;
    std::memcpy(&first, bytes, sizeof first);
    std::memcpy(&last, bytes + size - sizeof last, sizeof last);
    return mix(first, last, size, so_far);
}

// Returns a checksum that tells data apart, without protection from forgery. Short data, which most
// programs send, are mixed without a loop.
inline uint64_t checksum(const void *data, size_t size, uint64_t so_far = 0) {
    const auto *bytes = static_cast<const std::byte *>(data);
    if (is_mixed_at_once(size)) {
        return mixed_at_once(bytes, size, so_far);
    }
    if (size > 2 * sizeof(uint64_t)) {
        return crc32c(static_cast<uint32_t>(so_far ^ so_far >> 32), data, size);
    }
    uint64_t first = 0;
    uint64_t last = 0;
    if (size >= sizeof(uint32_t)) {
        std::memcpy(&first, bytes, sizeof(uint32_t));
        std::memcpy(&last, bytes + size - sizeof(uint32_t), sizeof(uint32_t));
    } else if (size > 0) { // all of up to three bytes
        first = static_cast<uint64_t>(bytes[0]);
        last = static_cast<uint64_t>(bytes[size / 2]) << 8 | static_cast<uint64_t>(bytes[size - 1]);
    }
    return mix(first, last, size, so_far);
}

} // namespace cd::logger
