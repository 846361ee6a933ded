// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"

namespace cd {

// Fills in what cd_query tells of the CD. Takes time in proportion to its entries.
void query(const Domain &domain, cd_info &info);

} // namespace cd
