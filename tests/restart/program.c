/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */
/* Stores a global variable, or restores it; BUILD makes it another program,
   of other data and of other code. */
#include "cd/cd.h"

#include <stdio.h>

static int values[1000] = {BUILD};

int main(int argc, char **argv) {
    cd_handle root = create_cd(NULL, argv[argc - 1], CD_COMM_LOGGING_DISABLED, "root", NULL);
    struct cd_info info = {0};
    const struct cd_addrspec range = {values, sizeof values, CD_READ_ONLY, CD_GLOBAL};
    int done = root != NULL && cd_query(root, &info) == CD_SUCCESS;
    if (done && info.restarted) {
        done = restore_cd(root) == CD_SUCCESS;
    } else if (done) {
        values[0] = BUILD + 1;
        values[1] = 7;
        done = add_to_cd_via_copy(root, &range, 1, NULL) == CD_SUCCESS &&
               advance_cd_point_in_time(root) == CD_SUCCESS;
    }
    if (!done) {
        printf("%d %s", (int)cd_last_error(), cd_last_error_message());
    } else if (values[1] != 7) {
        printf("not restored");
    } else {
        printf("%s", info.restarted ? "restored" : "stored");
    }
    return 0;
}
