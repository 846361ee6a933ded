// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "mpi/mpi_exchange.h"

#include <mutex>

namespace cd::mpi {

// A meeting of MPI_COMM_WORLD, of one thread of each process at a time.
struct Assembly {
    std::unique_lock<std::mutex> alone;
    MpiExchange *all = nullptr; // of MPI_COMM_WORLD
};

// Collective over MPI_COMM_WORLD. Fails on all ranks, then and later, where one has come to
// MPI_Finalize instead. MPI is usable.
Status assemble(Assembly &assembly);

// Starts to tell the ranks that are in assemble(), or will be, that this rank is in MPI_Finalize;
// calls meanwhile(); and waits for them where MPI does not complete that by itself. Later calls
// only call meanwhile().
void leave_world(void (*meanwhile)()) noexcept;

} // namespace cd::mpi
