/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */
/* A library whose functions the loader binds when it loads it, which is before the logger's turn.
 */
#include <mpi.h>

__attribute__((visibility("default"))) void reduce_here(void);

void reduce_here(void) {
    int sum = 0;
    for (int i = 0; i < 10; ++i) {
        const int one = 1;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}
