// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <cstring>

namespace cd {

// The copies of this file are memcpy, and faster where it is slow. Without an x86-64 they are
// memcpy itself. The result is visible to other threads as that of memcpy is.

// Leaves the target in memory and not in the caches. For what is too long to stay there anyway: the
// target's old bytes need not be fetched then.
void copy_past_caches(void *to, const void *from, size_t length) noexcept;

// For what is longer than the cache next to the core keeps, and goes through the ones behind it.
void copy_in_streams(void *to, const void *from, size_t length) noexcept;

// For any length of which the target may stay in the caches.
inline void copy_through_caches(void *to, const void *from, size_t length) noexcept {
    constexpr size_t worth_streams = size_t{512} << 10; // measured
    if (length < worth_streams) {
        std::memcpy(to, from, length);
    } else {
        copy_in_streams(to, from, length);
    }
}

} // namespace cd
