// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <cstdint>

namespace cd {

// Says whether a copy leaves its target in the caches.
enum class Target : uint8_t { cached, past_caches };

// The rest of a copy that is done in steps.
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

// CRC-32C by multiplication of 32 bytes at once (AVX2 with VPCLMULQDQ), as fast as memory: data are
// folded onto what follows them.

// True if this processor has the instructions.
bool can_fold_crc32c() noexcept;

// Copies all but a few lines of rest to a target that begins with a cache line. Continues crc and
// returns it, both without the inversions at the ends. Needs can_fold_crc32c().
template <Target T> uint64_t copy_folding_crc32c(uint64_t crc, CopyRest &rest) noexcept;

} // namespace cd
