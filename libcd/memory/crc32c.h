// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <cstdint>

namespace cd {

// CRC-32C as iSCSI, ext4 and Btrfs use it. A seed of 0 starts; the result for a first part as the
// seed for the second gives that of both: crc32c(crc32c(0, a), b) is the checksum of ab.
uint32_t crc32c(uint32_t seed, const void *data, size_t length) noexcept;

// The same result as crc32c() without ISA-L: the implementation where there is none, and what
// tests compare it with.
uint32_t crc32c_portable(uint32_t seed, const void *data, size_t length) noexcept;

} // namespace cd
