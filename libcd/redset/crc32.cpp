// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/crc32.h"

#ifdef CD_HAVE_ISAL
#include "base/isa_l.h"
#endif

#include <array>

namespace cd::redset {
namespace {

constexpr std::array<uint32_t, 256> make_table() {
    constexpr uint32_t reversed_polynomial = 0xEDB88320;
    std::array<uint32_t, 256> table{};
    for (uint32_t byte = 0; byte < table.size(); ++byte) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? reversed_polynomial : 0);
        }
        table[byte] = crc;
    }
    return table;
}

constexpr std::array<uint32_t, 256> table = make_table();

} // namespace

uint32_t crc32_portable(std::span<const std::byte> data) noexcept {
    uint32_t crc = 0xFFFFFFFF;
    for (const std::byte byte : data) {
        crc = (crc >> 8) ^ table[(crc ^ std::to_integer<uint32_t>(byte)) & 0xFF];
    }
    return ~crc;
}

uint32_t crc32(std::span<const std::byte> data) noexcept {
#ifdef CD_HAVE_ISAL
    return isa_l::crc32(data.data(), data.size());
#else
    return crc32_portable(data);
#endif
}

} // namespace cd::redset
