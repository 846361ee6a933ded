// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace cd {

// Returns "1 member" or "2 members", for messages. May throw std::bad_alloc.
std::string counted(std::integral auto count, const char *one, const std::string &many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
}
std::string counted(std::integral auto count, const char *one) {
    return counted(count, one, std::string(one) + "s");
}

// Returns how much of a text from outside a message quotes: the precision for "%.*s".
inline int quoted(std::string_view text) {
    return static_cast<int>(std::min<size_t>(text.size(), 100));
}

// Reads a whole text as a number from least to most. Returns nothing if it is anything else.
template <typename Number>
std::optional<Number> parse_number(std::string_view text, Number least, Number most) {
    Number number{};
    const char *const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, number);
    const bool is_one = error == std::errc() && stopped == end && number >= least && number <= most;
    return is_one ? std::optional(number) : std::nullopt;
}

// Returns the path of name in folder.
inline std::string path_in(const std::string &folder, const std::string &name) {
    return folder + "/" + name;
}

} // namespace cd
