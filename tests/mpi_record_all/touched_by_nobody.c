/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */

/* An MPI program that knows nothing of containment domains. It also does what a CD that logs
   refuses, and frees what is still to be freed when MPI looks. */

#include <mpi.h>
#include <stdio.h>

static int deletions = 0;

static int count_deletion(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm;
    (void)key;
    (void)value;
    (void)extra;
    ++deletions;
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int next = (rank + 1) % size;
    const int previous = (rank + size - 1) % size;

    int from_previous = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 1, &from_previous, 1, MPI_INT, previous, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);

    int sent = 10 * rank;
    int received = -1;
    MPI_Request requests[2];
    MPI_Irecv(&received, 1, MPI_INT, previous, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&sent, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Status statuses[2];
    MPI_Waitall(2, requests, statuses);

    for (int i = 0; i < 1000; ++i) { /* nothing comes, which is one entry for each caller */
        int is_there = 0;
        i < 600 ? MPI_Iprobe(previous, 3, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE)
                : MPI_Iprobe(previous, 4, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    }

    for (int i = 0; i < 1000; ++i) { /* neither comes, which is one entry once it is seen */
        int is_there = 0;
        MPI_Iprobe(previous, 3, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
        MPI_Iprobe(previous, 4, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    }

    /* A callback of the program's runs when a communicator is freed, and not later. */
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_deletion, &key, NULL);
    int freed_in_time = 1;
    for (int i = 0; i < 300; ++i) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_attr(comm, key, &deletions);
        int ignored = 0;
        MPI_Allreduce(&i, &ignored, 1, MPI_INT, MPI_MAX, comm);
        MPI_Comm_free(&comm);
        freed_in_time = freed_in_time && deletions == i + 1;
    }
    MPI_Comm_free_keyval(&key);

    int exposed = -1;
    MPI_Win win;
    MPI_Win_create(&exposed, sizeof exposed, sizeof exposed, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, next, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);

    printf("rank %d: %d %d %d %d %d %d\n", rank, from_previous, sum, received,
           statuses[0].MPI_SOURCE, exposed, freed_in_time);
    MPI_Finalize();
    return 0;
}
