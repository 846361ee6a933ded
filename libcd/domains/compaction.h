// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"

namespace cd {

// The greatest length of an entry that join_fragments() makes; most are half as long and more.
constexpr size_t longest_joined = size_t{8} << 10;

// Joins short neighbouring entries that are alike into one, and copies their data into one place.
// Call after an advance of the CD or of a child, and after a child's commit: these cut ranges into
// ever more fragments. Does nothing until there are many, and leaves alone the ones that the
// program names again and again. Changes nothing that can be seen, and ignores failures.
void join_fragments(Domain &domain) noexcept;

// Copies data that are the last of a large place in the store into places of their own, once much
// room is wasted so: a place is freed only as a whole. Call after each operation that may leave a
// place. Changes nothing that can be seen, and ignores failures.
void free_sparse_places(Domain &domain) noexcept;

} // namespace cd
