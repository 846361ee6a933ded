// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"

namespace cd {

// Compares what a restore would write to READ_ONLY bytes with live memory, and stored data with
// their checksums; for PARENT bytes those are the ancestors'. Leaves out memory that a descendant
// may modify. Calls report, which may be null, for each range that differs, and then fails. The
// caller has locked the family. May throw std::bad_alloc.
Status verify(Domain &domain, cd_mismatch_fn report, void *context);

} // namespace cd
