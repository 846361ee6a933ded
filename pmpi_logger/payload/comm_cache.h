// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstdint>
#include <mpi.h>

namespace cd::logger {

// What decides which bytes a collective operation brings to this rank.
struct CommCache {
    int rank = 0;
    int size = 0; // of this rank's group
    int remote_size = 0;
    int inter = 0; // between two groups
    int neighbors_in = 0;
    int neighbors_out = 0;
    uint64_t absent_neighbors = 0; // a bit for each of the first 64 that is MPI_PROC_NULL
    int failure = 0;               // MPI's error: the handle is stale
};

// What MPI says of the one that has the handle in MPI, whatever the thread means by it.
CommCache ask_comm_facts(MPI_Comm comm);

// Of the one that the thread means. Remembered from call to call. Valid until the thread asks for
// another communicator.
const CommCache &comm_facts_of(MPI_Comm comm);

// MPI's error when it was asked last, which it has told the program: that is the call's error,
// since the call itself would have the program told once more. MPI_SUCCESS if there was none.
int failure_of(MPI_Comm comm);

// A communicator has been freed; its handle may come to mean another one.
void forget_comm_facts();

} // namespace cd::logger
