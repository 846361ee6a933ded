// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstdint>
#include <mpi.h>

namespace cd::logger {

// Facts about a communicator that decide which bytes a collective operation brings to this rank.
struct CommFacts {
    int rank = 0;
    int size = 0; // the size of this rank's group
    int remote_size = 0;
    int inter = 0; // between two groups
    int neighbors_in = 0;
    int neighbors_out = 0;
    uint64_t absent_neighbors = 0; // a bit for each of the first 64 that is MPI_PROC_NULL
    int failure = 0;               // MPI's error: the handle is stale
};

// Asks MPI about the communicator that has the handle in MPI.
CommFacts ask_comm_facts(MPI_Comm comm);

// Returns the facts of the communicator that the thread means, from the cache if they are there.
// Valid until the thread asks about another communicator.
const CommFacts &comm_facts_of(MPI_Comm comm);

// Returns the error that MPI reported when it was last asked about `comm`. It is the call's error:
// the program must not get it twice.
int failure_of(MPI_Comm comm);

// Empties the cache: a communicator is freed, and its handle may be given to another one.
void forget_comm_facts();

} // namespace cd::logger
