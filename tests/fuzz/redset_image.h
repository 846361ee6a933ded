// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "redset/kvtree_file.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace fuzz {

inline void put_big_endian(std::vector<std::byte> &bytes, size_t at, size_t width, uint64_t value) {
    for (size_t i = 0; i < width; ++i) {
        bytes[at + i] = static_cast<std::byte>(value >> (8 * (width - 1 - i)));
    }
}

// Makes magic, length and checksum of an image right, since no fuzzer finds a checksum.
inline std::vector<std::byte> sealed(std::vector<std::byte> bytes) {
    bytes.resize(bytes.size() < 24 ? 28 : bytes.size() + 4);
    const size_t end = bytes.size() - 4;
    put_big_endian(bytes, 0, 4, 0x951fc3f5);
    put_big_endian(bytes, 4, 4, 0x00010001);
    put_big_endian(bytes, 8, 8, bytes.size());
    put_big_endian(bytes, 16, 4, 1);
    put_big_endian(bytes, end, 4, cd::redset::crc32(std::span(bytes).first(end)));
    return bytes;
}

// Makes the image whose tree the bytes are.
inline std::vector<std::byte> image_around(std::span<const std::byte> tree) {
    std::vector<std::byte> bytes(20);
    bytes.insert(bytes.end(), tree.begin(), tree.end());
    return sealed(std::move(bytes));
}

} // namespace fuzz
