/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */

/*
 * stencil_mpi [SEED]: an MPI program in which one rank survives a failure alone.
 *
 * A plate, hot at its upper edge, is spread over the ranks. Each step exchanges halos with the
 * neighbours, computes the mean of four cells for each cell, and agrees on the largest change. The
 * ranks do so twice: undisturbed, and then each in a containment domain that logs its MPI calls,
 * where one rank is hit in some step. That rank restores its domain and runs again from its last
 * point in time, alone: its MPI calls are answered from the log, and the other ranks never
 * notice. In the end both results are compared bit for bit.
 *
 * libpmpi_logger.so makes this work. This program is linked with it; one that is not runs as
 *   mpirun -x LD_PRELOAD=.../libpmpi_logger.so (Open MPI), -genv LD_PRELOAD ... (MPICH)
 */
#define _POSIX_C_SOURCE 200809L /* NOLINT(bugprone-reserved-identifier): POSIX says so */
#include <cd/cd.h>

#include <float.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROWS = 192, COLUMNS = 192, STEPS = 120, STEPS_BETWEEN_POINTS = 20 };
static const double tolerance = 1e-6;

/* One rank's part of the plate, in a frame of halo cells. */
struct simulation {
    double cells[ROWS + 2][COLUMNS + 2];
    double largest_change;
    int steps_done;
};
static struct simulation simulation;

/* ---- The failure, and the report of it ---- */

enum place { IN_THE_EXCHANGE, IN_THE_COMPUTATION };
static const char *const place_names[] = {"in the middle of the halo exchange",
                                          "in the middle of the computation"};

static struct { int seed, rank, step, place; } failure; /* the same on all ranks */

static struct {
    int restores, steps_lost, calls_replayed;
    double seconds_lost, seconds_replayed;
} report;

static int may_fail;
static double interval_began; /* the first time, and again after the restore */

static double now(void) {
    struct timespec time; /* MPI_Wtime would be logged, and show the first run's time again */
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Returns nonzero if the failure hits here, and destroys the field then. */
static int hit(enum place place) {
    if (!may_fail || simulation.steps_done + 1 != failure.step ||
        place != (enum place)failure.place)
        return 0;
    if (report.restores > 0) {
        report.seconds_replayed = now() - interval_began;
        return 0;
    }
    report.seconds_lost = now() - interval_began;
    report.steps_lost = simulation.steps_done % STEPS_BETWEEN_POINTS;
    /* Keeps the halo: data of a pending receive are not in the log yet. */
    for (int i = 1; i <= ROWS; i++)
        memset(&simulation.cells[i][1], 0xA5, COLUMNS * sizeof(double));
    return -1;
}

/* ---- An ordinary MPI program ---- */

struct plate {
    MPI_Comm comm;
    MPI_Datatype column;
    int up, down, left, right;
};

static void make_plate(MPI_Comm ranks, struct plate *plate) {
    int sizes[2] = {0, 0}, periods[2] = {0, 0}, count;

    MPI_Comm_size(ranks, &count);
    MPI_Dims_create(count, 2, sizes);
    MPI_Cart_create(ranks, 2, sizes, periods, 0, &plate->comm);
    MPI_Cart_shift(plate->comm, 0, 1, &plate->up, &plate->down);
    MPI_Cart_shift(plate->comm, 1, 1, &plate->left, &plate->right);
    MPI_Type_vector(ROWS, 1, COLUMNS + 2, MPI_DOUBLE, &plate->column);
    MPI_Type_commit(&plate->column);
}

static void free_plate(struct plate *plate) {
    MPI_Type_free(&plate->column);
    MPI_Comm_free(&plate->comm);
}

static void start(const struct plate *plate) {
    memset(&simulation, 0, sizeof(simulation));
    simulation.largest_change = DBL_MAX;
    if (plate->up == MPI_PROC_NULL)
        for (int j = 0; j < COLUMNS + 2; j++)
            simulation.cells[0][j] = 100.0;
}

static int exchange(const struct plate *plate) {
    double(*cells)[COLUMNS + 2] = simulation.cells;
    MPI_Request requests[8];

    MPI_Irecv(&cells[0][1], COLUMNS, MPI_DOUBLE, plate->up, 0, plate->comm, &requests[0]);
    MPI_Irecv(&cells[ROWS + 1][1], COLUMNS, MPI_DOUBLE, plate->down, 1, plate->comm, &requests[1]);
    MPI_Irecv(&cells[1][0], 1, plate->column, plate->left, 2, plate->comm, &requests[2]);
    MPI_Irecv(&cells[1][COLUMNS + 1], 1, plate->column, plate->right, 3, plate->comm, &requests[3]);
    MPI_Isend(&cells[ROWS][1], COLUMNS, MPI_DOUBLE, plate->down, 0, plate->comm, &requests[4]);
    MPI_Isend(&cells[1][1], COLUMNS, MPI_DOUBLE, plate->up, 1, plate->comm, &requests[5]);
    MPI_Isend(&cells[1][COLUMNS], 1, plate->column, plate->right, 2, plate->comm, &requests[6]);
    MPI_Isend(&cells[1][1], 1, plate->column, plate->left, 3, plate->comm, &requests[7]);
    if (hit(IN_THE_EXCHANGE))
        return -1; /* with eight requests under way */
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    return 0;
}

static int compute(double *largest_change) {
    static double above[COLUMNS + 2], here[COLUMNS + 2];

    *largest_change = 0.0;
    memcpy(above, simulation.cells[0], sizeof(above));
    for (int i = 1; i <= ROWS; i++) {
        double *row = simulation.cells[i], *below = simulation.cells[i + 1];

        if (i == ROWS / 2 && hit(IN_THE_COMPUTATION))
            return -1;
        memcpy(here, row, sizeof(here));
        for (int j = 1; j <= COLUMNS; j++) {
            row[j] = 0.25 * (above[j] + below[j] + here[j - 1] + here[j + 1]);
            *largest_change = fmax(*largest_change, fabs(row[j] - here[j]));
        }
        memcpy(above, here, sizeof(above));
    }
    return 0;
}

static int step(const struct plate *plate) {
    double change;

    if (exchange(plate) != 0 || compute(&change) != 0)
        return -1;
    MPI_Allreduce(&change, &simulation.largest_change, 1, MPI_DOUBLE, MPI_MAX, plate->comm);
    simulation.steps_done++;
    return 0;
}

static int finished(void) {
    return simulation.steps_done == STEPS || simulation.largest_change <= tolerance;
}

/* Runs steps up to the next point in time. */
static int interval(const struct plate *plate) {
    do
        if (step(plate) != 0)
            return -1;
    while (!finished() && simulation.steps_done % STEPS_BETWEEN_POINTS != 0);
    return 0;
}

static void run_undisturbed(const struct plate *plate) {
    start(plate);
    while (!finished())
        interval(plate);
}

/* ---- The same with a containment domain ---- */

static void must(int result, const char *call) {
    if (result != SUCCESS) {
        fprintf(stderr, "%s: %s\n", call, cd_last_error_message());
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

static void restore(cd_handle cd) {
    struct cd_info info;

    must(restore_cd(cd), "restore_cd");
    must(cd_query(cd, &info), "cd_query");
    report.restores++;
    report.calls_replayed = (int)info.log_remaining;
}

/* The loop to take home. */
static void run_in_domain(const struct plate *plate) {
    struct cd_addrspec list[1] = {{&simulation, sizeof(simulation), READ_WRITE, GLOBAL}};
    cd_handle cd = create_cd(NULL, NULL, COMM_LOGGING_ENABLED, "plate", NULL);

    must(cd != NULL ? SUCCESS : FAILURE, "create_cd");
    start(plate);
    while (!finished()) {
        must(add_to_cd_via_copy(cd, list, 1), "add_to_cd_via_copy");
        interval_began = now();
        if (interval(plate) != 0)
            restore(cd);
        else
            must(advance_cd_point_in_time(cd), "advance_cd_point_in_time");
    }
    must(commit_cd(cd), "commit_cd");
}

/* ---- The demonstration ---- */

static void plan_failure(int argc, char **argv, MPI_Comm ranks) {
    int count;

    MPI_Comm_size(ranks, &count);
    failure.seed = argc > 1 ? atoi(argv[1]) : (int)(time(NULL) % 1000000);
    MPI_Bcast(&failure.seed, 1, MPI_INT, 0, ranks);
    srand((unsigned)failure.seed);
    failure.rank = rand() % count;
    failure.step = 1 + rand() % STEPS;
    failure.place = rand() % 2;
}

static void print_library(void) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;

    MPI_Get_library_version(version, &length);
    version[strcspn(version, ",\n")] = '\0';
    for (char *tab = strchr(version, '\t'); tab != NULL; tab = strchr(tab, '\t'))
        *tab = ' ';
    printf("%s, ", version);
}

static void print_report(int restores_elsewhere, double undisturbed, double disturbed) {
    const int step_before = failure.step - 1 - report.steps_lost;

    printf("  undisturbed:      %d steps in %.1f ms\n", simulation.steps_done, 1e3 * undisturbed);
    printf("  with the failure: %d steps in %.1f ms\n", simulation.steps_done, 1e3 * disturbed);
    printf("    rank %d was hit in step %d, %s: all its cells are garbage\n", failure.rank,
           failure.step, place_names[failure.place]);
    printf("    it restored its domain to the end of step %d: %d whole steps and %.2f ms of work "
           "lost\n",
           step_before, report.steps_lost, 1e3 * report.seconds_lost);
    printf("    it ran them again alone: %d MPI calls answered from its log, %.2f ms, %.2f times "
           "the first time\n",
           report.calls_replayed, 1e3 * report.seconds_replayed,
           report.seconds_replayed / report.seconds_lost);
    printf("    the other ranks restored %s and only waited for its messages\n",
           restores_elsewhere == 0 ? "nothing" : "something, WHICH THEY SHOULD NOT,");
}

/* Brings the report of the rank that was hit to all ranks. Returns how many other ranks restored.
 */
static int collect_report(int rank) {
    int mine = rank == failure.rank ? 0 : report.restores, all;

    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(&report, sizeof(report), MPI_BYTE, failure.rank, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv) {
    static struct simulation undisturbed;
    struct plate plate;
    double began, seconds_undisturbed, seconds_disturbed;
    int rank, count, same, all_same, restores_elsewhere, right;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    plan_failure(argc, argv, MPI_COMM_WORLD);
    make_plate(MPI_COMM_WORLD, &plate);

    began = now();
    run_undisturbed(&plate);
    seconds_undisturbed = now() - began;
    memcpy(&undisturbed, &simulation, sizeof(simulation));
    free_plate(&plate);

    may_fail = rank == failure.rank;
    make_plate(MPI_COMM_WORLD, &plate);
    began = now();
    run_in_domain(&plate);
    seconds_disturbed = now() - began;
    free_plate(&plate);

    same = memcmp(&undisturbed, &simulation, sizeof(simulation)) == 0;
    MPI_Allreduce(&same, &all_same, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    restores_elsewhere = collect_report(rank);
    right = all_same && restores_elsewhere == 0 && report.restores == 1;
    if (rank == 0) {
        print_library();
        printf("%d ranks with %d x %d cells each, seed %d\n", count, ROWS, COLUMNS, failure.seed);
        print_report(restores_elsewhere, seconds_undisturbed, seconds_disturbed);
        printf("  bit-identical to the undisturbed run: %s\n", all_same ? "yes" : "NO");
    }
    MPI_Finalize();
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
