// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/mpi_lifetime.h"

#include "mpi/real.h"

#include <atomic>

namespace cd::logger {
namespace {

std::atomic<int> sessions = 0;
std::atomic<int> own_rank = -1;
std::atomic<int> own_size = 0;

} // namespace

bool MpiLife::has_world() {
    int initialized = 0;
    int finalized = 0;
    real<Fn::MPI_Initialized>(&initialized);
    real<Fn::MPI_Finalized>(&finalized);
    return initialized != 0 && finalized == 0;
}

bool MpiLife::is_up() { return sessions > 0 || has_world(); }

int MpiLife::rank() {
    if (own_rank < 0 && has_world()) { // this library came later
        world_begins();
    }
    return own_rank;
}

int MpiLife::size() { return own_size; }

void MpiLife::world_begins() {
    int rank = 0;
    int size = 0;
    real<Fn::MPI_Comm_rank>(MPI_COMM_WORLD, &rank);
    real<Fn::MPI_Comm_size>(MPI_COMM_WORLD, &size);
    own_rank = rank;
    own_size = size;
}

void MpiLife::session_begins(int its_rank, int its_size) {
    ++sessions;
    own_rank = its_rank;
    own_size = its_size;
}

void MpiLife::session_ends() { --sessions; }

bool MpiLife::is_last_session() { return sessions == 1 && !has_world(); }

} // namespace cd::logger
