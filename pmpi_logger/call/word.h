// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace cd::logger {

// A number or a handle, as it stands in the log.
template <typename T> uint64_t word_of(T value) {
    if constexpr (std::is_integral_v<T>) {
        return static_cast<uint64_t>(static_cast<int64_t>(value));
    } else {
        static_assert(sizeof(T) <= sizeof(uint64_t) && std::is_trivially_copyable_v<T>);
        uint64_t word = 0;
        std::memcpy(&word, &value, sizeof value);
        return word;
    }
}

} // namespace cd::logger
