// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "base/status.h"

#include <mpi.h>

namespace cd::mpi {

// The functions of the MPI library itself. Those that the linker finds by the names of MPI, both of
// each, may be the logger's, which would record our traffic as the program's.
struct Mpi {
    decltype(&PMPI_Cancel) cancel = nullptr;
    decltype(&PMPI_Comm_create_keyval) comm_create_keyval = nullptr;
    decltype(&PMPI_Comm_free) comm_free = nullptr;
    decltype(&PMPI_Comm_rank) comm_rank = nullptr;
    decltype(&PMPI_Comm_set_attr) comm_set_attr = nullptr;
    decltype(&PMPI_Comm_set_errhandler) comm_set_errhandler = nullptr;
    decltype(&PMPI_Comm_size) comm_size = nullptr;
    decltype(&PMPI_Comm_split) comm_split = nullptr;
    decltype(&PMPI_Error_string) error_string = nullptr;
    decltype(&PMPI_Finalized) finalized = nullptr;
    decltype(&PMPI_Get_processor_name) get_processor_name = nullptr;
    decltype(&PMPI_Iallgather) iallgather = nullptr;
    decltype(&PMPI_Iallgatherv) iallgatherv = nullptr;
    decltype(&PMPI_Initialized) initialized = nullptr;
    decltype(&PMPI_Iprobe) iprobe = nullptr;
    decltype(&PMPI_Irecv) irecv = nullptr;
    decltype(&PMPI_Isend) isend = nullptr;
    decltype(&PMPI_Query_thread) query_thread = nullptr;
    decltype(&PMPI_Request_free) request_free = nullptr;
    decltype(&PMPI_Testall) testall = nullptr;
};

const Mpi &own();

// Makes is_usable() false in processes that are forked after MPI_Init. False: no memory.
bool notice_forks();

// True between MPI_Init and MPI_Finalize, in the process that calls these.
bool is_usable();

// Turns a code of MPI into a Status. what: the operation, for the message.
Status outcome(int code, const char *what);

} // namespace cd::mpi
