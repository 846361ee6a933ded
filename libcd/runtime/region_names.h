// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "ranges/entry.h"

namespace cd {

// Gives range a name for stores, or takes the name back if range is empty (cd_name_region). Refuses
// to take a name from memory that a CD with a store holds by that name. If a store may know the
// name it waits until no operation on a CD is under way. Thread-safe; the caller holds no lock of a
// CD. May throw std::bad_alloc.
Status name_region(const char *name, Range range);

} // namespace cd
