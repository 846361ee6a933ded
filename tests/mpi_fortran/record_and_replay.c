/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */

/* record_and_replay RANK: steps whose MPI calls are made in Fortran. RANK fails in each and runs it
   again from its log; the others go on. Ends with the same numbers as without failures. */

#include <cd/cd.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

void step(double *x);

static double run(int failing_rank) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double x = 1;
    struct cd_addrspec keep = {&x, sizeof x, READ_WRITE, GLOBAL};
    cd_handle cd = create_cd(NULL, NULL, COMM_LOGGING_ENABLED, "root", NULL);
    for (int i = 0; i < 5; ++i) {
        add_to_cd_via_copy(cd, &keep, 1);
        step(&x);
        step(&x);
        if (rank == failing_rank) {
            x = -1e9;
            if (restore_cd(cd) != SUCCESS) {
                fprintf(stderr, "%s\n", cd_last_error_message());
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
            step(&x);
            step(&x);
        }
        advance_cd_point_in_time(cd);
    }
    commit_cd(cd);
    return x;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const int failing_rank = argc > 1 ? atoi(argv[1]) : 0;
    const double undisturbed = run(-1);
    const double disturbed = run(failing_rank);
    printf("%.17g, with failures %.17g\n", undisturbed, disturbed);
    MPI_Finalize();
    return undisturbed == disturbed ? 0 : 1;
}
