// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "mpi/function.h"

#include <bit>
#include <cstdint>

namespace cd::logger {

// The beginning of each log entry. The compared words follow, then what the handler writes.
struct EntryHeader {
    enum Flags : uint8_t {
        negative = 1, // a poll that found nothing, repeats times in a row
        optional = 4  // a re-execution need not make the call
    };

    uint16_t fn = 0;
    uint8_t words = 0;
    uint8_t flags = 0;
    int32_t result = 0;
    uint64_t site = 0;
    uint64_t repeats = 0;

    // Returns what stands before `site`, as one number, without flags.
    static uint64_t first_word(Fn fn, uint8_t words, int32_t result) {
        static_assert(std::endian::native == std::endian::little);
        return static_cast<uint64_t>(fn) | uint64_t{words} << 16 |
               uint64_t{static_cast<uint32_t>(result)} << 32;
    }

    Fn function() const { return static_cast<Fn>(fn); }
    const uint64_t *word() const { return reinterpret_cast<const uint64_t *>(this + 1); }
};
static_assert(sizeof(EntryHeader) == 24);

} // namespace cd::logger
