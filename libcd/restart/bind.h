// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/arguments.h"
#include "domains/domain.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace cd {

// An add call of a CD. What the family holds unbound, and the call names, becomes entries at the
// call's addresses first, in all CDs of the family. Entries that a restore would have written are
// written to memory, and regenerate is called with those that it would have had regenerated. An
// error if the call adds something else than the store holds. Needs the locks of all CDs of the
// family. May throw std::bad_alloc. When it fails nothing has changed, but for memory that a
// restore would have written. copied: as for add().
using Regenerate = std::function<Status(std::vector<cd_addrspec> &specs)>;
Status add_and_bind(Domain &domain, const AddRequest &request, size_t &copied,
                    const Regenerate &regenerate);

} // namespace cd
