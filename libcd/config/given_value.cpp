// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "config/given_value.h"

#include <algorithm>

namespace cd {

std::optional<std::string_view> find_value(std::string_view text, std::string_view key) noexcept {
    while (!text.empty()) {
        const std::string_view element = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), element.size() + 1));
        const size_t equals = element.find('=');
        if (equals != std::string_view::npos && element.substr(0, equals) == key) {
            return element.substr(equals + 1);
        }
    }
    return std::nullopt;
}

} // namespace cd
