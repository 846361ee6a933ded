// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "domains/domain.h"

namespace cd {

// Fills in info for cd_query. Visits all entries of the CD.
void query(const Domain &domain, cd_info &info);

} // namespace cd
