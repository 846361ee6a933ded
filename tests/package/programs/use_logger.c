/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */

/* What an outside MPI program does first: one rank goes back, and gets its messages from the log.
 */
#include "cd/cd.h"

#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int rank = -1, ranks = 0, sum = 0, right;
    struct cd_info info;
    cd_handle cd;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    cd = create_cd(NULL, NULL, COMM_LOGGING_ENABLED, "outside", NULL);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    right = cd_query(cd, &info) == SUCCESS && info.log_length == 1;
    if (!right)
        fprintf(stderr, "rank %d: the logger has logged nothing\n", rank);
    if (right && rank == 0) {
        sum = -1;
        right = restore_cd(cd) == SUCCESS &&
                MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS &&
                sum == ranks * (ranks - 1) / 2;
        if (!right)
            fprintf(stderr, "rank 0: the sum is %d after the restore: %s\n", sum,
                    cd_last_error_message());
    }
    right = commit_cd(cd) == SUCCESS && right;
    MPI_Finalize();
    return right ? 0 : 1;
}
