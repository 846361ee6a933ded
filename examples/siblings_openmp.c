/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */
/*
 * Sibling domains in OpenMP threads, on two ranks. Each thread exchanges messages with the thread
 * of its number on the other rank, in its own domain. One thread is hit and restores its domain:
 * its messages come from its own log, while the other threads go on. Then the rank restores the
 * domain around the threads, and each thread gets its messages again. The other rank notices
 * nothing.
 */
#include <cd/cd.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, STEPS = 40, HIT_THREAD = 1, HIT_STEP = 25 };

static void need(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "siblings_openmp: %s: %s\n", what, cd_last_error_message());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static cd_handle child_of(cd_handle parent) {
    cd_handle child = create_cd(parent, NULL, COMM_LOGGING_INHERIT, NULL, NULL);
    need(child != NULL, "create_cd");
    return child;
}

/* Sends the value to the thread of the same number on the other rank, and mixes in its answer. */
static void exchange(int thread, int step, double *value) {
    int rank;
    double others;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Sendrecv(value, 1, MPI_DOUBLE, 1 - rank, thread, &others, 1, MPI_DOUBLE, 1 - rank, thread,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    *value = 0.75 * *value + 0.25 * others + 0.01 * (step + thread);
}

/* What one thread does. Messages are logged in the domain that the thread itself has created. */
static void work(cd_handle sibling, int thread, double *value, int hit) {
    struct cd_addrspec keep = {value, sizeof *value, READ_WRITE, GLOBAL};
    cd_handle own = child_of(sibling);
    need(add_to_cd_via_copy(own, &keep, 1) == SUCCESS, "add_to_cd_via_copy");
    for (int step = 0; step < STEPS; ++step) {
        exchange(thread, step, value);
        if (hit && thread == HIT_THREAD && step == HIT_STEP) {
            *value = -1.0;
            need(restore_cd(own) == SUCCESS, "restore_cd");
            printf("thread %d was hit in step %d, and replays its messages alone\n", thread, step);
            hit = 0;
            step = -1;
        }
    }
    need(commit_cd(own) == SUCCESS, "commit_cd");
}

static void run_threads(cd_handle parent, double *values, int hit) {
    cd_handle siblings[THREADS];
    /* Creates the siblings in a known order, since a sibling's number finds its log in a
     * re-execution. The static schedule gives this thread the same sibling again: the log of a
     * thread's own child lies in the parent's log, those of other threads beside it. */
    for (int i = 0; i < THREADS; ++i) {
        siblings[i] = child_of(parent);
    }
#pragma omp parallel for num_threads(THREADS) schedule(static, 1)
    for (int i = 0; i < THREADS; ++i) {
        work(siblings[i], i, &values[i], hit);
    }
    for (int i = 0; i < THREADS; ++i) {
        need(commit_cd(siblings[i]) == SUCCESS, "commit_cd");
    }
}

static int same(const double *some, const double *others) {
    for (int i = 0; i < THREADS; ++i) {
        if (some[i] != others[i]) {
            return 0;
        }
    }
    return 1;
}

int main(int argc, char **argv) {
    int provided, rank, right;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "siblings_openmp: this MPI does not let threads call it\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    double undisturbed[THREADS] = {rank, rank + 2, rank + 4};
    double values[THREADS] = {rank, rank + 2, rank + 4};
    struct cd_addrspec keep = {values, sizeof values, READ_WRITE, GLOBAL};
    cd_handle root = create_cd(NULL, NULL, COMM_LOGGING_ENABLED, "siblings", NULL);
    need(root != NULL, "create_cd");
    run_threads(root, undisturbed, 0);
    need(advance_cd_point_in_time(root) == SUCCESS, "advance_cd_point_in_time");

    need(add_to_cd_via_copy(root, &keep, 1) == SUCCESS, "add_to_cd_via_copy");
    run_threads(root, values, rank == 0);
    right = same(values, undisturbed);
    if (rank == 0) {
        need(restore_cd(root) == SUCCESS, "restore_cd");
        run_threads(root, values, 0);
        printf("rank 0 ran all of its threads again, alone\n");
        right = right && same(values, undisturbed);
        printf("as in the undisturbed run: %s\n", right ? "yes" : "no");
    }
    need(commit_cd(root) == SUCCESS, "commit_cd");
    MPI_Finalize();
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
