// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <mpi.h>

namespace cd::logger {

// A communicator of this rank alone whose errors come back: MPI packs for some communicator, and a
// call that is the logger's own must not end the program. From any thread.
MPI_Comm own_comm();

// Before MPI ends. What MPI's end still calls of the program gets MPI_COMM_SELF.
void free_own_comm();

// MPI_COMM_SELF; where a program has sessions only, there is none, and the result is own_comm().
MPI_Comm self_comm();

} // namespace cd::logger
