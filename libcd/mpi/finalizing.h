// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "protection/protection.h"

namespace cd::mpi {

// Before MPI ends it is waited for what protections have under way. Those that are remembered live
// until they are forgotten.
Status remember(protection::Protection &protection);
void forget(protection::Protection &protection);
void wait_for_all() noexcept;

} // namespace cd::mpi
