// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <cstdint>

namespace cd {

// What a copy that computes a checksum leaves its bytes in.
enum class Target : uint8_t { cached, past_caches };

// What is left of such a copy. Whoever does a part of it moves on.
struct CopyRest {
    std::byte *to;
    const std::byte *from;
    size_t length;

    void advance(size_t by) {
        to += by;
        from += by;
        length -= by;
    }
};

// CRC-32C by multiplying 32 bytes at once (AVX2 with VPCLMULQDQ), which takes so few instructions
// that memory is the limit, and not AVX-512's twice as many, which fewer processors have: what was
// read is folded onto what follows it.

// Whether this processor can.
bool can_fold_crc32c() noexcept;

// Copies as much of rest as it can, all but a few lines, to a target that begins with a cache line.
// crc: of what went before; returns that of all, both without the inversions at the ends. Only if
// can_fold_crc32c().
template <Target T> uint64_t copy_folding_crc32c(uint64_t crc, CopyRest &rest) noexcept;

} // namespace cd
