// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"

namespace cd {

// Fills in what cd_query tells of the CD. Takes time in proportion to its entries.
void query(const Domain &domain, cd_info &info);

// Compares READ_ONLY copies with live memory and stored data with their checksums; calls report,
// which may be null, for each range that differs, and then fails.
Status verify(const Domain &domain, cd_mismatch_fn report, void *context);

} // namespace cd
