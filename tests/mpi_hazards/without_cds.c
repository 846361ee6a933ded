/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */
/* An MPI program that knows nothing of CDs: rank 0 prints what it sees of MPI. */
#include <mpi.h>
#include <stdio.h>

static void sum(void *in, void *inout, int *length, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *length; ++i) {
        ((int *)inout)[i] += ((int *)in)[i];
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

    MPI_Datatype pairs;
    MPI_Type_vector(3, 1, 2, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    int data[6] = {rank, 1, 2, 3, 4, 5};
    int sparse[6] = {0};
    const int next = (rank + 1) % size;
    const int previous = (rank + size - 1) % size;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Irecv(sparse, 1, pairs, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(data, 1, pairs, next, 7, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&pairs);
    MPI_Waitall(2, requests, statuses);
    int count;
    MPI_Get_count(&statuses[0], MPI_INT, &count);

    MPI_Op op;
    MPI_Op_create(sum, 1, &op);
    int total = -1;
    MPI_Allreduce(&rank, &total, 1, MPI_INT, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);

    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    int half_size;
    MPI_Comm_size(half, &half_size);
    MPI_Comm_free(&half);

    int error_class;
    MPI_Error_class(MPI_Send(data, 1, MPI_INT, size + 1, 0, MPI_COMM_WORLD), &error_class);
    if (rank == 0) {
        printf("from %d (%d), tag %d, count %d: %d %d %d %d %d %d\n", statuses[0].MPI_SOURCE,
               previous, statuses[0].MPI_TAG, count, sparse[0], sparse[1], sparse[2], sparse[3],
               sparse[4], sparse[5]);
        printf("total %d, half %d, wrong rank %d, null %d\n", total, half_size,
               error_class == MPI_ERR_RANK,
               requests[0] == MPI_REQUEST_NULL && half == MPI_COMM_NULL);
    }
    MPI_Finalize();
    return 0;
}
