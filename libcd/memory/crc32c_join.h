// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstdint>

namespace cd {

// The CRC-32C of two parts one after the other, from that of each.
uint32_t join_crc32c(uint32_t first, uint32_t second, uint64_t second_length) noexcept;

} // namespace cd
