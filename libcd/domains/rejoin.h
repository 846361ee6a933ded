// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"

namespace cd {

// After an advance of a CD, or of a child, or a child's commit: each may cut ranges that were added
// as one into smaller parts, at other places than those before. Once there are many, neighbours
// that are alike and short become one entry again, whose data are copied into one place. So there
// are no more entries than what was added, what its parts were that go on being used, and the
// length of the data allow, and for each cut no more is copied than longest_joined, once or twice.
// Changes nothing that can be seen; what cannot be done stays as it is.
void rejoin(Domain &domain) noexcept;

// Of an entry that this makes: most are half as long and more.
constexpr size_t longest_joined = size_t{8} << 10;

} // namespace cd
