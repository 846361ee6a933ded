// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cd::redset {

// The CRC-32C of bytes that come in several runs by turns, each from its beginning to its end.
class ScatteredCrc {
public:
    // May throw std::bad_alloc when a run begins.
    void add(uint64_t offset, std::span<const std::byte> bytes);

    // That of all bytes from 0 on, once they have come; they leave no gaps.
    uint32_t whole() const;

private:
    struct Run {
        uint64_t begin;
        uint64_t end;
        uint32_t crc;
    };
    std::vector<Run> runs_;
};

} // namespace cd::redset
