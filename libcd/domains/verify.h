// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"

namespace cd {

// Performs cd_verify: compares stored data with their checksums, and live READ_ONLY memory with the
// data that a restore would write there. PARENT bytes are compared with the ancestors' data. Leaves
// out memory that a descendant may modify. Calls `report`, which may be null, for each difference,
// and then fails. Needs the locks of the family. May throw std::bad_alloc.
Status verify(Domain &domain, cd_mismatch_fn report, void *context);

} // namespace cd
