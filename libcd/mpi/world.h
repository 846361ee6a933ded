// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "mpi/mpi_exchange.h"

#include <mutex>

namespace cd::mpi {

// One thread of each process at a time.
struct Assembly {
    std::unique_lock<std::mutex> alone;
    MpiExchange *all = nullptr; // of MPI_COMM_WORLD
};

// All ranks of MPI_COMM_WORLD come to it, or to MPI_Finalize: where one does that it fails on all,
// and from then on. MPI is usable.
Status assemble(Assembly &assembly);

// Comes to MPI_Finalize. Waits for the others where MPI does not go on with telling them, or
// complains of that. Does nothing the next time.
void leave_world() noexcept;

} // namespace cd::mpi
