// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/text.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace cd {

// Reads a size as people write it: a number of bytes, or of KiB, MiB or GiB with K, M or G behind
// it. Returns nothing if the text is something else, or the size is larger than largest.
inline std::optional<uint64_t> byte_count(std::string_view text, uint64_t largest) {
    constexpr std::string_view units = "KMG";
    unsigned shift = 0;
    if (const size_t unit = text.empty() ? units.npos : units.find(text.back());
        unit != units.npos) {
        shift = 10 * (static_cast<unsigned>(unit) + 1);
        text.remove_suffix(1);
    }
    const auto count = parse_number<uint64_t>(text, 0, largest >> shift);
    return count ? std::optional(*count << shift) : std::nullopt;
}

} // namespace cd
