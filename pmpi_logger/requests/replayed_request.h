// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <mpi.h>

namespace cd::logger {

// Requests of MPI that are complete from the start. A program may hold, mix, convert to Fortran and
// wait for them like any other.

// For requests whose completion stands in the log. Returned ones are used again.
MPI_Request take_placeholder();
void give_placeholder(MPI_Request request);

// Returns a placeholder for a generalized request: MPI keeps the language of its callbacks. The
// program calls MPI_Grequest_complete for it, perhaps in another thread and after it has waited.
MPI_Request take_generalized(bool of_fortran);
bool is_replayed_generalized(MPI_Request request);

// Returns a request that completes with this status and result, and is gone then.
MPI_Request completed_request(const MPI_Status &status, int result);

// Must be called before MPI ends.
void free_placeholders();

} // namespace cd::logger
