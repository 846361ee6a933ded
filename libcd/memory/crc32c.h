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

// The CRC-32C of two parts one after the other, from that of each.
uint32_t join_crc32c(uint32_t first, uint32_t second, uint64_t second_length) noexcept;

// Copies, and returns what crc32c(seed, to, length) returns then, reading main memory once. The two
// may not overlap. Where other threads change from meanwhile, the checksum still is that of what
// was written.
uint32_t copy_crc32c(uint32_t seed, void *to, const void *from, size_t length) noexcept;

// The same, and leaves the target in memory and not in the caches, as copy_past_caches() does.
// Other threads may see it after finish_past_caches() only, which many such copies can share.
uint32_t copy_crc32c_past_caches(uint32_t seed, void *to, const void *from, size_t length) noexcept;

void finish_past_caches() noexcept;

// What the two are where the processor does not fold (memory/crc32c_avx2.h), and where it has no
// instruction for the checksum either.
uint32_t copy_crc32c_by_words(uint32_t seed, void *to, const void *from, size_t length) noexcept;
uint32_t copy_crc32c_portable(uint32_t seed, void *to, const void *from, size_t length) noexcept;

} // namespace cd
