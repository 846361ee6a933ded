// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "mpi/pmpi_table.h"

#include <chrono>
#include <span>

namespace cd::mpi {

// Lets others have the processor meanwhile, and sleeps when it takes long: MPI's own waiting may
// keep it from those who are waited for, or from the program. Where MPI fails in one rank of comm,
// it fails in all of them. what: names the operation in messages.
Status wait_for(MPI_Comm comm, std::span<MPI_Request> requests, const char *what);

// On a communicator of the program's, where nobody is told of failures. It may still be under way
// then.
Status wait_until(std::chrono::steady_clock::time_point deadline, MPI_Request &request,
                  const char *what);

// The outcome of what this rank has begun, which is called off where that has failed.
Status begun(MPI_Comm comm, int code, const char *what);

// Begins what all ranks of comm do together, and waits for it.
template <typename Begin> Status together(MPI_Comm comm, const Begin &begin, const char *what) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (Status status = begun(comm, begin(request), what); !status) {
        return status;
    }
    return wait_for(comm, {&request, 1}, what);
}

} // namespace cd::mpi
