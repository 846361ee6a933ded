/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */

/*
 * A loop that survives a failure.
 *
 * A rod with one hot cell cools down. In the middle of one step a failure garbles half of the rod.
 * The program restores its containment domain, which brings rod and step counter back to the
 * end of the last good step, and carries on. At the end the result is compared bit for bit with
 * that of a run in which nothing went wrong.
 */
#include <cd/cd.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 100001, MIDDLE = CELLS / 2, STEPS = 6, FAILING_STEP = 4, NEVER = -1 };

struct simulation {
    double rod[CELLS];
    int steps_done;
};

static struct simulation simulation;
static int quiet;

static void start(void) {
    memset(&simulation, 0, sizeof(simulation));
    simulation.rod[MIDDLE] = 1000.0;
}

/* One explicit step of the heat equation. Returns nonzero when a failure hits it half way. */
static int compute(int fails) {
    double left = simulation.rod[0];

    for (int i = 1; i + 1 < CELLS; i++) {
        double here = simulation.rod[i];
        simulation.rod[i] = here + 0.25 * (left - 2.0 * here + simulation.rod[i + 1]);
        left = here;
        if (fails && i == MIDDLE) {
            memset(simulation.rod, 0xA5, sizeof(simulation.rod) / 2 + sizeof(double));
            return -1;
        }
    }
    simulation.steps_done++;
    return 0;
}

static void say(const char *what, const char *remark) {
    if (!quiet)
        printf("  %-26s steps done %d, middle cell %-14.6g %s\n", what, simulation.steps_done,
               simulation.rod[MIDDLE], remark);
}

/* Ends the program if a call of the library failed. */
static void must(int result, const char *call, const char *remark) {
    if (result != SUCCESS) {
        fprintf(stderr, "%s: %s\n", call, cd_last_error_message());
        exit(EXIT_FAILURE);
    }
    say(call, remark);
}

/* The loop to take home. */
static void run(int failing_step) {
    struct cd_addrspec list[2] = {
        {simulation.rod, sizeof(simulation.rod), READ_WRITE, GLOBAL},
        {&simulation.steps_done, sizeof(simulation.steps_done), READ_WRITE, GLOBAL},
    };
    int will_fail = 1;
    cd_handle cd;

    start();
    cd = create_cd(NULL, NULL, COMM_LOGGING_DISABLED, "rod", NULL);
    must(cd != NULL ? SUCCESS : FAILURE, "create_cd", "");

    while (simulation.steps_done < STEPS) {
        int step = simulation.steps_done + 1;

        if (!quiet)
            printf("step %d\n", step);
        must(add_to_cd_via_copy(cd, list, 2), "add_to_cd_via_copy", "");
        if (compute(will_fail && step == failing_step) != 0) {
            will_fail = 0;
            say("compute", "<- FAILURE: half of the rod is garbage");
            must(restore_cd(cd), "restore_cd", "<- back at the last good step");
        } else {
            say("compute", "");
            must(advance_cd_point_in_time(cd), "advance_cd_point_in_time", "");
        }
    }
    must(commit_cd(cd), "commit_cd", "");
}

int main(void) {
    static struct simulation undisturbed;

    printf("A run in which nothing goes wrong, for comparison.\n");
    quiet = 1;
    run(NEVER);
    undisturbed = simulation;

    printf("The same run, hit by a failure in the middle of step %d:\n\n", FAILING_STEP);
    quiet = 0;
    run(FAILING_STEP);

    if (memcmp(undisturbed.rod, simulation.rod, sizeof(simulation.rod)) != 0 ||
        undisturbed.steps_done != simulation.steps_done) {
        printf("\nThe results of the two runs DIFFER.\n");
        return EXIT_FAILURE;
    }
    printf("\nThe results of the two runs are the same, bit for bit (%zu bytes).\n",
           sizeof(simulation.rod));
    return EXIT_SUCCESS;
}
