// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "redset/scheme_name.h"

#include "redset/scheme.h"

#include <charconv>
#include <system_error>

namespace cd::redset {
namespace {

bool take_ending(std::string_view &from, std::string_view ending) {
    if (!from.ends_with(ending)) {
        return false;
    }
    from.remove_suffix(ending.size());
    return true;
}

bool take_last_number(std::string_view &from, int &number) {
    size_t begin = from.size();
    while (begin > 0 && from[begin - 1] >= '0' && from[begin - 1] <= '9') {
        --begin;
    }
    const auto digits = from.substr(begin);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    from.remove_suffix(digits.size());
    return error == std::errc() && !digits.empty();
}

} // namespace

std::optional<SchemeName> scheme_name_of(std::string_view name) {
    int members = 0;
    int member = 0;
    int groups = 0;
    int group = 0;
    if (!take_ending(name, ".redset") || !take_last_number(name, members) ||
        !take_ending(name, "_of_") || !take_last_number(name, member) ||
        !take_ending(name, ".mem_") || !take_last_number(name, groups) ||
        !take_ending(name, "_of_") || !take_last_number(name, group) ||
        !take_ending(name, ".grp_")) {
        return std::nullopt;
    }
    const size_t dot = name.rfind('.');
    const Scheme scheme =
        dot == std::string_view::npos ? Scheme::none : scheme_named(name.substr(dot + 1));
    if (scheme == Scheme::none) {
        return std::nullopt;
    }
    return SchemeName{name.substr(0, dot), scheme, group - 1, groups, member - 1, members};
}

} // namespace cd::redset
