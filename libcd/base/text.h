// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

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

// Returns the path of name in folder.
inline std::string path_in(const std::string &folder, const std::string &name) {
    return folder + "/" + name;
}

} // namespace cd
