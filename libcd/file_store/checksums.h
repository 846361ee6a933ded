// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstdint>

namespace cd {

// One for each checked part of data that were written at once; none if they are not wanted. Most
// data are small, so that no memory has to be found for theirs.
using Checksums = absl::InlinedVector<uint32_t, 4>;

} // namespace cd
