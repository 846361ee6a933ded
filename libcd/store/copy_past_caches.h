// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>

namespace cd {

// memcpy that leaves the target in memory and not in the caches. For what is too long to stay
// there anyway: the target's old bytes need not be fetched then. The result is visible to other
// threads as that of memcpy is. Without SSE2 it is memcpy.
void copy_past_caches(void *to, const void *from, size_t length) noexcept;

} // namespace cd
