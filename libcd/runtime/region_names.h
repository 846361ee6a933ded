// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "ranges/entry.h"

namespace cd {

// cd_name_region: gives range a name for stores, or, if it is empty, takes the name back.
// Thread-safe; the caller holds no lock of a CD. May throw std::bad_alloc.
//
// A name stays with its memory as long as a CD with a store holds bytes there: the store has them
// by the name that they had when they were added, and another process would take them for what is
// called so later. So whatever would leave such memory without its name is refused; it waits until
// no operation on a CD is under way.
Status name_region(const char *name, Range range);

} // namespace cd
