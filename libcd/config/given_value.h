// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <optional>
#include <string_view>

namespace cd {

// The value of the key in a text that may be no storage_info; nullopt where there is none.
std::optional<std::string_view> find_value(std::string_view text, std::string_view key) noexcept;

} // namespace cd
