// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"

namespace cd {

// Fills in what cd_query tells of the CD. Takes time in proportion to its entries.
void query(const Domain &domain, cd_info &info);

// Compares what a restore would write to READ_ONLY bytes with live memory, and stored data with
// their checksums; for PARENT bytes those are the ancestors'. Calls report, which may be null, for
// each range that differs, and then fails. The caller has locked the ancestors.
Status verify(const Domain &domain, cd_mismatch_fn report, void *context);

} // namespace cd
