// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>

namespace cd {

inline constexpr size_t cache_line = 64;
inline constexpr size_t small_page = size_t{4} << 10;
inline constexpr size_t huge_page = size_t{2} << 20;

} // namespace cd
