// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "checkpoint/checkpointer.h"

namespace cd::mpi {

// MPI_Finalize waits for checkpointers that are registered. They live until they are unregistered.
Status register_checkpointer(checkpoint::Checkpointer &checkpointer);
void unregister_checkpointer(checkpoint::Checkpointer &checkpointer);

} // namespace cd::mpi
