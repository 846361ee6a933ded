// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/mpi_lifetime.h"

#include "mpi/real.h"

#include <atomic>

namespace cd::logger {
namespace {

std::atomic<int> sessions = 0;
std::atomic<int> own_rank = -1;

} // namespace

bool MpiLifetime::has_world() {
    int initialized = 0;
    int finalized = 0;
    real<Fn::MPI_Initialized>(&initialized);
    real<Fn::MPI_Finalized>(&finalized);
    return initialized != 0 && finalized == 0;
}

bool MpiLifetime::is_up() { return sessions > 0 || has_world(); }

int MpiLifetime::rank() {
    if (own_rank < 0 && has_world()) { // this library came later
        world_begins();
    }
    return own_rank;
}

void MpiLifetime::world_begins() {
    int rank = 0;
    real<Fn::MPI_Comm_rank>(MPI_COMM_WORLD, &rank);
    own_rank = rank;
}

void MpiLifetime::session_begins(int its_rank) {
    ++sessions;
    own_rank = its_rank;
}

void MpiLifetime::session_ends() { --sessions; }

bool MpiLifetime::is_last_session() { return sessions == 1 && !has_world(); }

} // namespace cd::logger
