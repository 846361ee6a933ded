// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"

namespace cd {

// The greatest length of an entry that join_fragments() makes. Most are at least half as long.
constexpr size_t longest_joined = size_t{8} << 10;

// Joins short neighbouring entries that are alike into one, and copies their data into one place.
// Call it after an advance of the CD or of a child, and after a child's commit, since these cut
// ranges into ever more fragments. Does nothing until there are many fragments. Leaves fragments
// alone that the program names again and again. Has no visible effect, and ignores failures.
void join_fragments(Domain &domain) noexcept;

// Moves data out of places in the store of which only a small part is still used, once these waste
// much room: a place is freed only as a whole. Call it after each operation that may leave part of
// a place unused. Has no visible effect, and ignores failures.
void free_sparse_places(Domain &domain) noexcept;

} // namespace cd
