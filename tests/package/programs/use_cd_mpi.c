/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */

/* An MPI program whose point in time is protected: it finds libcd_mpi. Its argument is an empty
   directory. */
#include <cd/cd.h>

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    char storage[4200];
    double state = 1.0;
    struct cd_addrspec keep = {&state, sizeof(state), READ_WRITE, GLOBAL};
    struct cd_info info;
    cd_handle cd;
    int good;

    if (argc != 2)
        return EXIT_FAILURE;
    MPI_Init(&argc, &argv);
    snprintf(storage, sizeof(storage), "store=file,redundancy=single,sync=none,dir=%.4000s",
             argv[1]);
    cd = create_cd(NULL, storage, COMM_LOGGING_DISABLED, "root", NULL);
    good = cd != NULL && add_to_cd_via_copy(cd, &keep, 1) == SUCCESS &&
           advance_cd_point_in_time(cd) == SUCCESS && cd_query(cd, &info) == SUCCESS &&
           info.protected_epoch == info.epoch && commit_cd(cd) == SUCCESS;
    if (!good)
        fprintf(stderr, "%s\n", cd_last_error_message());
    MPI_Finalize();
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
