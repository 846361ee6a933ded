// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <mpi.h>

namespace cd::logger {

// What MPI libraries do differently without a word of it in mpi.h: one line each. The rest of the
// logger asks mpi_has.inc, which says what mpi.h declares.

enum class Library { open_mpi, mpich };

#if defined OPEN_MPI
constexpr Library library() { return Library::open_mpi; }
#else
constexpr Library library() { return Library::mpich; }
#endif

// Returns whether ranks that disconnect a communicator wait for each other.
constexpr bool disconnects_in_a_barrier() { return library() == Library::open_mpi; }

// MPICH before 4.1 completes the request of an MPI_Rget before the data are there, and raises the
// error of a failed request on the communicator of all processes.
#if defined MPICH_NUMVERSION && MPICH_NUMVERSION < 40100000
constexpr bool completes_reads_early = true;
constexpr bool raises_on_own_communicator = false;
#else
constexpr bool completes_reads_early = false;
constexpr bool raises_on_own_communicator = true;
#endif

// Returns whether MPI_Isend returns one shared request where it has nothing to do.
constexpr bool shares_complete_requests() { return library() == Library::open_mpi; }

// Returns whether Fortran reads the handle that MPI_Comm_idup makes before the request completes.
constexpr bool fortran_reads_handles_at_once() { return library() == Library::open_mpi; }

// In Open MPI 5 and later the Fortran routine of MPI_Ialltoallw and its kin stores arrays of types in
// the request that the C function has made, whatever kind that is.
#if defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5
constexpr bool fortran_attaches_arrays_to_requests = true;
#else
constexpr bool fortran_attaches_arrays_to_requests = false;
#endif

// Returns how much larger the keys of MPI's own window attributes are in Fortran than in C.
constexpr int fortran_window_key_offset() { return library() == Library::mpich ? 1 : 0; }

} // namespace cd::logger
