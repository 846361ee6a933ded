// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "ranges/entry.h"

#include <cstddef>

namespace cd {

// For walks over entries, of which many do not fit into the caches: has the processor fetch what
// the walk comes to a little later. That is a guess: entries that were added together lie one
// behind the other (entry_pool.h).
inline void prefetch_behind(const Entry &entry) noexcept {
    constexpr size_t ahead = 8; // measured
    const auto *later = reinterpret_cast<const std::byte *>(&entry) + ahead * sizeof(Entry);
    __builtin_prefetch(later);
    __builtin_prefetch(later + sizeof(Entry) - 1);
}

} // namespace cd
