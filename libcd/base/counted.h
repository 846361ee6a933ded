// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <concepts>
#include <string>

namespace cd {

// "1 member", "2 members": for messages. May throw std::bad_alloc.
std::string counted(std::integral auto count, const char *one, const std::string &many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
}
std::string counted(std::integral auto count, const char *one) {
    return counted(count, one, std::string(one) + "s");
}

} // namespace cd
