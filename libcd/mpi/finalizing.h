// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/protection.h"

namespace cd::mpi {

// Before MPI ends it is waited for what protections have under way. Those that are remembered live
// until they are forgotten.
Status remember(checkpoint::Protection &protection);
void forget(checkpoint::Protection &protection);

// Does that, and tells the other ranks.
void get_ready_to_end() noexcept;

} // namespace cd::mpi
