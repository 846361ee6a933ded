// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"

namespace cd {

// After an operation on a CD that outlives the process, or on a child of it: what was one entry
// once has one place, which is free again only as a whole. If much room is held by parts of such
// places, what the CD has in them gets places of its own. Changes nothing that can be seen; what
// cannot be done stays as it is.
void tidy(Domain &domain) noexcept;

} // namespace cd
