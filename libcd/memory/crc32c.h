// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <cstdint>

namespace cd {

// Computes a CRC-32C as iSCSI, ext4 and Btrfs use it. A seed of 0 starts; crc32c(crc32c(0, a), b)
// is the checksum of a followed by b.
uint32_t crc32c(uint32_t seed, const void *data, size_t length) noexcept;

// Computes it without ISA-L, by tables.
uint32_t crc32c_portable(uint32_t seed, const void *data, size_t length) noexcept;

// Returns the CRC-32C of two parts from those of each.
uint32_t join_crc32c(uint32_t first, uint32_t second, uint64_t second_length) noexcept;

// Copies and returns the checksum of the target, reading memory once. The two may not overlap. The
// checksum fits what was written even if other threads change the source meanwhile.
uint32_t copy_crc32c(uint32_t seed, void *to, const void *from, size_t length) noexcept;

// Copies past the caches. Other threads see the target after finish_past_caches(), which many
// copies can share.
uint32_t copy_crc32c_past_caches(uint32_t seed, void *to, const void *from, size_t length) noexcept;

void finish_past_caches() noexcept;

// Return the names of what computes them on this processor.
const char *crc32c_kernel() noexcept;
const char *copy_crc32c_kernel() noexcept;

// The implementations for processors without crc32c_avx2, and without an instruction for CRC-32C.
uint32_t copy_crc32c_by_words(uint32_t seed, void *to, const void *from, size_t length) noexcept;
uint32_t copy_crc32c_portable(uint32_t seed, void *to, const void *from, size_t length) noexcept;

} // namespace cd
