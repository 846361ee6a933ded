// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cd::redset {

// CRC-32 as zlib and KVTree's files have it; by ISA-L where libcd was built with it.
uint32_t crc32(std::span<const std::byte> data) noexcept;
uint32_t crc32_portable(std::span<const std::byte> data) noexcept;

} // namespace cd::redset
