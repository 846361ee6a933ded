// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// A library that brings MPI into a program that has none, as mpi4py does.

#include <mpi.h>
#include <stddef.h>

void use_mpi(void) {
    MPI_Init(NULL, NULL);
    int ours = 1;
    int total = 0;
    MPI_Allreduce(&ours, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
}
