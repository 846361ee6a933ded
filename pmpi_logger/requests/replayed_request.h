// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <mpi.h>

namespace cd::logger {

// Requests that are complete from the start: a program may hold, mix, convert to Fortran and wait
// for them like any other.

// For a request whose completion stands in the log. They are used again and again.
MPI_Request take_placeholder();
void give_placeholder(MPI_Request request);

// The same for a generalized request, which is not used again: it calls functions of the language
// that made it, and MPI's Fortran says afterwards that this was Fortran. The program, which does
// not know, says that it is complete, perhaps in another thread, and after it has waited for it:
// the handle means this one until then.
MPI_Request take_generalized(bool of_fortran);
void give_generalized(MPI_Request request);
// The program says so. False if the handle means no such request.
bool complete_generalized(MPI_Request request);

// For one that has completed with this status and result. It goes when it is waited for.
MPI_Request completed_request(const MPI_Status &status, int result);

// Before MPI ends.
void free_placeholders();

} // namespace cd::logger
