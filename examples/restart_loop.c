/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */

/*
 * A loop that survives its own process.
 *
 * With CD_STORAGE_INFO=store=file,dir=... in the environment the containment domain lies in a file.
 * Kill the program at any moment, as often as you like, and start it again: it goes on from its
 * last point in time, and its last line is the same, bit for bit, as that of a run that nobody
 * killed. The three lines that a loop needs for this are marked RESTART.
 *
 * The loop advances at the end of a step, before it counts on. So it keeps the number of a complete
 * step, and a restart goes on with the next one. Only the first point in time, with epoch 0, is at
 * the beginning of a step.
 */
#include <cd/cd.h>

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 100, N_CD = 10, CELLS = 20000 };

/* Stands for the memory of an accelerator. */
static double gpu_state[CELLS];

static void load_gpu_kernel(void) {
    for (int cell = 0; cell < CELLS; cell++)
        gpu_state[cell] = cell % 100;
}

static void run_gpu_kernel(int i, int j) {
    double left = gpu_state[CELLS - 1];

    for (int cell = 0; cell < CELLS; cell++) {
        double here = gpu_state[cell];
        gpu_state[cell] = 0.7 * here + 0.3 * left + 1.0 / (i + j);
        left = here;
    }
}

static void must(int good, const char *call) {
    if (!good) {
        fprintf(stderr, "%s: %s\n", call, cd_last_error_message());
        exit(EXIT_FAILURE);
    }
}

static int restores(cd_handle cd, const struct cd_info *info, const int *i) {
    if (!info->restarted)
        return 0;
    must(restore_cd(cd) == SUCCESS, "restore_cd");
    printf(info->epoch > 0 ? "step %d is complete, restarted\n" : "step %d, restarted\n", *i);
    fflush(stdout);
    return 1;
}

int main(void) {
    double *node_copy_of_result = calloc(1, sizeof(double));
    int i, j;
    struct cd_addrspec as[4] = {{gpu_state, sizeof(gpu_state), READ_WRITE, GLOBAL},
                                {node_copy_of_result, sizeof(double), READ_WRITE, GLOBAL},
                                {&i, sizeof(i), READ_WRITE, GLOBAL},
                                {&j, sizeof(j), READ_WRITE, GLOBAL}};
    struct cd_info info; /* RESTART */
    uint64_t bits;
    cd_handle cd;

    must(node_copy_of_result != NULL, "calloc");
    cd = create_cd(NULL, NULL, COMM_LOGGING_DISABLED, "root", NULL);
    must(cd != NULL, "create_cd");
    load_gpu_kernel();
    for (i = 1; i <= STEPS; i++) {
        must(add_to_cd_via_copy(cd, as, 4) == SUCCESS, "add_to_cd_via_copy");
        must(cd_query(cd, &info) == SUCCESS, "cd_query"); /* RESTART */
        if (restores(cd, &info, &i) && info.epoch > 0)    /* RESTART */
            continue;
        printf("step %d\n", i);
        fflush(stdout);
        for (j = 1; j <= N_CD; j++) {
            run_gpu_kernel(i, j);
            *node_copy_of_result += gpu_state[(i * N_CD + j) % CELLS];
        }
        must(advance_cd_point_in_time(cd) == SUCCESS, "advance_cd_point_in_time");
    }
    memcpy(&bits, node_copy_of_result, sizeof(bits));
    printf("result %.17g, bits %016" PRIx64 "\n", *node_copy_of_result, bits);
    must(commit_cd(cd) == SUCCESS, "commit_cd");
    free(node_copy_of_result);
    return EXIT_SUCCESS;
}
