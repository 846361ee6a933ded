// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "payload/comm_cache.h"

#include "call/handle_word.h"
#include "mpi/real.h"
#include "payload/ended_connections.h"
#include "payload/handle_cache.h"

#include <algorithm>

namespace cd::logger {
namespace {

uint64_t absent_in_grid(MPI_Comm comm, int dimensions) {
    uint64_t absent = 0;
    for (int i = 0; i < std::min(dimensions, 32); ++i) {
        int before = 0;
        int after = 0;
        real<Fn::MPI_Cart_shift>(comm, i, 1, &before, &after);
        absent |= uint64_t{before == MPI_PROC_NULL} << (2 * i);
        absent |= uint64_t{after == MPI_PROC_NULL} << (2 * i + 1);
    }
    return absent;
}

void ask_neighbors(MPI_Comm comm, CommFacts &facts) {
    int kind = MPI_UNDEFINED;
    real<Fn::MPI_Topo_test>(comm, &kind);
    if (kind == MPI_CART) {
        int dimensions = 0;
        real<Fn::MPI_Cartdim_get>(comm, &dimensions);
        facts.neighbors_in = facts.neighbors_out = 2 * dimensions;
        facts.absent_neighbors = absent_in_grid(comm, dimensions);
    } else if (kind == MPI_GRAPH) {
        real<Fn::MPI_Graph_neighbors_count>(comm, facts.rank, &facts.neighbors_in);
        facts.neighbors_out = facts.neighbors_in;
    } else if (kind == MPI_DIST_GRAPH) {
        int weighted = 0;
        real<Fn::MPI_Dist_graph_neighbors_count>(comm, &facts.neighbors_in, &facts.neighbors_out,
                                                 &weighted);
    }
}

using Cache = HandleCache<MPI_Comm, CommFacts, ask_comm_facts>;

} // namespace

CommFacts ask_comm_facts(MPI_Comm comm) {
    CommFacts facts;
    if (!may_name(comm, MPI_COMM_NULL)) {
        return facts; // an error of the program, which MPI reports at the program's own call
    }
    facts.failure = real<Fn::MPI_Comm_rank>(comm, &facts.rank);
    if (facts.failure != MPI_SUCCESS) {
        return facts;
    }
    real<Fn::MPI_Comm_size>(comm, &facts.size);
    real<Fn::MPI_Comm_test_inter>(comm, &facts.inter);
    if (facts.inter != 0) {
        real<Fn::MPI_Comm_remote_size>(comm, &facts.remote_size);
    } else {
        ask_neighbors(comm, facts);
    }
    return facts;
}

const CommFacts &comm_facts_of(MPI_Comm comm) {
    const CommFacts *of_ended = EndedConnections::facts_of(comm);
    return of_ended != nullptr ? *of_ended : Cache::of(comm);
}

int failure_of(MPI_Comm comm) {
    const int failure = comm_facts_of(comm).failure;
    if (failure != MPI_SUCCESS) {
        forget_comm_facts(); // the next call with the handle gets the error, too
    }
    return failure;
}

void forget_comm_facts() { Cache::forget(); }

} // namespace cd::logger
