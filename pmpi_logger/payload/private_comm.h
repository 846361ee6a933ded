// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <mpi.h>

namespace cd::logger {

// Returns a communicator of this rank alone that returns errors, so that calls of the logger never
// end the program. Thread-safe.
MPI_Comm own_comm();

// Frees that communicator before MPI ends. Later calls get MPI_COMM_SELF.
void free_own_comm();

// Returns MPI_COMM_SELF, or own_comm() in a program that has sessions only.
MPI_Comm self_comm();

} // namespace cd::logger
