// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace cd {

// How much of a text from outside a message quotes: the precision for "%.*s".
inline int quoted(std::string_view text) {
    return static_cast<int>(std::min<size_t>(text.size(), 100));
}

} // namespace cd
