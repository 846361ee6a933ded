// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace cd {

// How a person gives a size: a number of bytes, or of kibibytes, mebibytes or gibibytes with K, M
// or G behind it. Nothing if the text is something else, or the size is larger than largest.
inline std::optional<uint64_t> byte_count(std::string_view text, uint64_t largest) {
    constexpr std::string_view units = "KMG";
    unsigned shift = 0;
    if (const size_t unit = text.empty() ? units.npos : units.find(text.back());
        unit != units.npos) {
        shift = 10 * (static_cast<unsigned>(unit) + 1);
        text.remove_suffix(1);
    }
    uint64_t count = 0;
    const char *const behind = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), behind, count);
    if (error != std::errc{} || end != behind || count > largest >> shift) {
        return std::nullopt;
    }
    return count << shift;
}

} // namespace cd
