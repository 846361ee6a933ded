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

} // namespace cd
