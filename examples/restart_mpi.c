/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */

/*
 * The loop of restart_loop.c on several ranks, which may all be killed at any moment.
 *
 *     export CD_STORAGE_INFO=store=file,dir=stores,keep=2
 *     CD_RESTART=$(cdctl epoch stores) mpirun -n 4 restart_mpi
 *
 * Each rank has its own store. All ranks meet in each step, so none is more than one advance ahead
 * of another. With keep=2 a rank that is ahead still has the point in time before. CD_RESTART takes
 * all ranks to the newest epoch that they have in common.
 */
#include <cd/cd.h>

#include <inttypes.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 60, CELLS = 20000 };

static double field[CELLS];

static void must(int good, const char *call) {
    if (!good) {
        fprintf(stderr, "%s: %s\n", call, cd_last_error_message());
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

static void start(int rank) {
    for (int cell = 0; cell < CELLS; cell++)
        field[cell] = rank + cell % 100;
}

/* Each rank's cells take something from the ones on their left, over the border of ranks too. */
static void compute(int rank, int ranks) {
    double left = 0.0;

    MPI_Sendrecv(&field[CELLS - 1], 1, MPI_DOUBLE, (rank + 1) % ranks, 0, &left, 1, MPI_DOUBLE,
                 (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int cell = 0; cell < CELLS; cell++) {
        double here = field[cell];
        field[cell] = 0.7 * here + 0.3 * left;
        left = here;
    }
}

/* Ends the program if ranks are at different steps, as after a start without CD_RESTART. */
static void check_that_all_are_at(int i) {
    int mine[2] = {i, -i}, least[2] = {0, 0};

    MPI_Allreduce(mine, least, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (least[0] != -least[1]) {
        fprintf(stderr,
                "restart_mpi: ranks are at steps %d to %d; start with CD_RESTART=$(cdctl "
                "epoch DIRECTORY)\n",
                least[0], -least[1]);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

int main(int argc, char **argv) {
    static double sums = 0.0;
    int i = 1, rank, ranks;
    struct cd_addrspec as[3] = {{field, sizeof(field), READ_WRITE, GLOBAL},
                                {&sums, sizeof(sums), READ_WRITE, GLOBAL},
                                {&i, sizeof(i), READ_WRITE, GLOBAL}};
    struct cd_info info;
    uint64_t bits;
    cd_handle cd;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    cd = create_cd(NULL, NULL, COMM_LOGGING_DISABLED, "root", NULL);
    must(cd != NULL, "create_cd");
    start(rank);
    while (i <= STEPS) {
        double sum = 0.0, all = 0.0;

        must(add_to_cd_via_copy(cd, as, 3) == SUCCESS, "add_to_cd_via_copy");
        must(cd_query(cd, &info) == SUCCESS, "cd_query");
        must(!info.restarted || restore_cd(cd) == SUCCESS, "restore_cd");
        check_that_all_are_at(i);
        if (rank == 0) {
            printf(info.restarted ? "step %d, restarted\n" : "step %d\n", i);
            fflush(stdout);
        }
        compute(rank, ranks);
        for (int cell = 0; cell < CELLS; cell++)
            sum += field[cell];
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        sums += all / i;
        i++;
        if (i <= STEPS) /* there is nothing to go on with behind the last step */
            must(advance_cd_point_in_time(cd) == SUCCESS, "advance_cd_point_in_time");
    }
    memcpy(&bits, &sums, sizeof(bits));
    if (rank == 0) {
        printf("result %.17g, bits %016" PRIx64 "\n", sums, bits);
        fflush(stdout);
    }
    /* No store may be removed while another rank may still have to start again. */
    MPI_Barrier(MPI_COMM_WORLD);
    must(commit_cd(cd) == SUCCESS, "commit_cd");
    MPI_Finalize();
    return EXIT_SUCCESS;
}
