// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <mpi.h>

namespace cd::logger {

// The differences between MPI libraries that mpi.h does not tell: a line for each. For all others
// the logger asks mpi_has.inc, which lists what mpi.h declares.

#ifdef OPEN_MPI
constexpr bool is_open_mpi = true;
#else
constexpr bool is_open_mpi = false;
#endif

#if defined MPICH_NUMVERSION && MPICH_NUMVERSION < 40100000
constexpr bool is_mpich_4_0 = true;
#else
constexpr bool is_mpich_4_0 = false;
#endif

#if defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5
constexpr bool is_open_mpi_5 = true; // or later
#else
constexpr bool is_open_mpi_5 = false;
#endif

// Ranks that disconnect a communicator wait for each other.
constexpr bool disconnects_in_a_barrier = is_open_mpi;

// MPI_Isend returns one shared request where it has nothing to do.
constexpr bool shares_complete_requests = is_open_mpi;

// A failed request raises its error on its own communicator, and not on that of all processes.
constexpr bool raises_on_own_communicator = !is_mpich_4_0;

// The request of an MPI_Rget completes before its data are there.
constexpr bool completes_reads_early = is_mpich_4_0;

// Fortran reads the handle that MPI_Comm_idup makes before the request completes.
constexpr bool fortran_reads_handles_at_once = is_open_mpi;

// The Fortran routine of MPI_Ineighbor_allgatherv writes into the request that the C function has
// made, whatever kind that is.
constexpr bool fortran_writes_into_request = is_open_mpi_5;

// The keys of MPI's own window attributes are larger in Fortran than in C by this number.
constexpr int fortran_window_key_offset = is_open_mpi ? 0 : 1;

} // namespace cd::logger
