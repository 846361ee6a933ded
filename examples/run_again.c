/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */

/*
 * A loop whose steps are run until they are right.
 *
 * Each step of the sum runs in a child domain by cd_run. To see steps fail, name them:
 *
 *     CD_INJECT='cd=0/sum/1/0,at=3;cd=0/sum/1/0,at=7,times=2' ./run_again
 *
 * Without CD_INJECT the program itself asks for a failure.
 */
#include <cd/control.h>

#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 6 };

static struct {
    double sum;
    int steps_done;
} state;

static int step(cd_handle cd, void *runs) {
    struct cd_addrspec keep = {&state, sizeof(state), READ_WRITE, GLOBAL};

    ++*(int *)runs;
    if (add_to_cd_via_copy(cd, &keep, 1) != SUCCESS)
        return -1;
    state.steps_done++;
    state.sum += 1.0 / state.steps_done;
    printf("  step %d, the sum is %g\n", state.steps_done, state.sum);
    return 0;
}

int main(void) {
    double expected = 0.0;
    int runs = 0;
    cd_handle root = create_cd(NULL, NULL, COMM_LOGGING_DISABLED, "sum", NULL);

    if (root == NULL ||
        (getenv("CD_INJECT") == NULL && cd_inject("cd=0/sum/1/0,at=3") != SUCCESS)) {
        fprintf(stderr, "%s\n", cd_last_error_message());
        return EXIT_FAILURE;
    }
    while (state.steps_done < STEPS) {
        if (cd_run(root, NULL, step, &runs) != SUCCESS) {
            fprintf(stderr, "%s\n", cd_last_error_message());
            return EXIT_FAILURE;
        }
    }
    for (int i = 1; i <= STEPS; i++)
        expected += 1.0 / i;
    printf("%d steps in %d runs; the sum is %s\n", STEPS, runs,
           state.sum == expected ? "right" : "WRONG");
    return commit_cd(root) == SUCCESS && state.sum == expected && runs > STEPS ? EXIT_SUCCESS
                                                                               : EXIT_FAILURE;
}
