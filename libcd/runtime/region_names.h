// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"
#include "ranges/entry.h"

namespace cd {

// cd_name_region: gives range a name for stores, or, if it is empty, takes the name back.
// Thread-safe; the caller holds no lock of a CD. May throw std::bad_alloc.
//
// A name stays with its memory as long as a CD with a store holds bytes there that it has by that
// name: another process would take what is called so later for them. So whatever would leave such
// memory without its name is refused. To know that, where somebody was told of memory by the name,
// it waits for a moment when no operation on a CD is under way, but those that wait for other
// ranks.
Status name_region(const char *name, Range range);

} // namespace cd
