/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */

/* Another tool that takes MPI over, as they all do: counts calls, and says how many there were. */
#include <mpi.h>
#include <stdio.h>

static int calls = 0;

int MPI_Allreduce(const void *sent, void *received, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    ++calls;
    return PMPI_Allreduce(sent, received, count, type, op, comm);
}

int MPI_Finalize(void) {
    printf("the tool: %d\n", calls);
    return PMPI_Finalize();
}
