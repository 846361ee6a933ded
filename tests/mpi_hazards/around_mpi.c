/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */
/* A domain that begins before MPI: it is restored to there while MPI is up, and not after its end.
 */
#include "cd/cd.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "%s does not hold; %s\n", what, cd_last_error_message());
        abort();
    }
}
#define CHECK(condition) check(condition, #condition)

static int executions = 0;
static double begun = 0;

static void begin(int *argc, char ***argv) {
    int provided = -1;
    CHECK(MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &provided) == MPI_SUCCESS);
    CHECK(provided >= MPI_THREAD_SERIALIZED);
    const double now = MPI_Wtime(); /* the log has the first execution's */
    CHECK(++executions == 1 || now == begun);
    begun = now;
    int mine = 7;
    int sum = 0;
    MPI_Scan(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == 7);
    MPI_Comm_rank(MPI_COMM_WORLD, &sum);
    CHECK(sum == 0);
}

int main(int argc, char **argv) {
    int state = 1;
    const struct cd_addrspec keep = {&state, sizeof state, READ_WRITE, GLOBAL};
    cd_handle cd = create_cd(NULL, NULL, COMM_LOGGING_ENABLED, "around", NULL);
    CHECK(cd != NULL);
    CHECK(add_to_cd_via_copy(cd, &keep, 1) == SUCCESS);
    begin(&argc, &argv);
    for (int i = 0; i < 2; ++i) {
        state = 2;
        CHECK(restore_cd(cd) == SUCCESS);
        CHECK(state == 1);
        begin(&argc, &argv);
    }
    CHECK(executions == 3);
    MPI_Finalize();
    state = 2;
    CHECK(restore_cd(cd) == FAILURE);
    CHECK(cd_last_error() == CD_ERROR_LOG_PENDING);
    CHECK(state == 2);
    CHECK(commit_cd(cd) == SUCCESS);
    return 0;
}
