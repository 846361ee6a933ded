// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <cstdint>

namespace cd {

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
