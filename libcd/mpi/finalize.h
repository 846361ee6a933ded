// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/checkpointer.h"

namespace cd::mpi {

// MPI_Finalize waits for checkpointers that are remembered. They live until they are forgotten.
Status remember(checkpoint::Checkpointer &checkpointer);
void forget(checkpoint::Checkpointer &checkpointer);

} // namespace cd::mpi
