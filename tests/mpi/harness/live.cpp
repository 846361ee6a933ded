// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "harness/live.h"

#include "harness/outputs.h"

#include <mpi.h>

namespace cd::scenarios {
namespace {

void demand(bool is, const char *what) {
    if (!is) {
        throw Failure(std::string("the live exchange afterwards: ") + what);
    }
}

void expect_silence() {
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    demand(found == 0, "a message was left over");
}

} // namespace

void talk_live() {
    static int round = 0;
    ++round;
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    demand(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS, "MPI_Barrier");
    expect_silence();
    demand(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS, "MPI_Barrier"); // nobody sends before it

    const int previous = (rank + size - 1) % size;
    const int sent = 1000 * round + rank;
    int received = -1;
    demand(MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % size, 77, &received, 1, MPI_INT, previous,
                        77, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS,
           "MPI_Sendrecv");
    demand(received == 1000 * round + previous, "MPI_Sendrecv brought something else");
    int sum = -1;
    demand(MPI_Allreduce(&sent, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS,
           "MPI_Allreduce");
    demand(sum == 1000 * round * size + size * (size - 1) / 2,
           "MPI_Allreduce brought something else");
}

} // namespace cd::scenarios
