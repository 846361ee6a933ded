// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "os/system.h"
#include "ranges/entry.h"

#include <cstddef>

namespace cd {

// For walks over entries, of which many do not fit into the caches: has the processor fetch what
// the walk comes to a little later. That is a guess: entries that were added together lie one
// behind the other (entry_pool.h).
inline void prefetch_behind(const Entry &entry) noexcept {
    constexpr size_t ahead = 16; // measured
    const auto *later = reinterpret_cast<const std::byte *>(&entry) + ahead * sizeof(Entry);
    static_assert(sizeof(Entry) <= 2 * cache_line); // a third line is the next entry's first
    __builtin_prefetch(later);
    __builtin_prefetch(later + cache_line);
}

} // namespace cd
