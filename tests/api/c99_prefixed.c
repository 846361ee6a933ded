/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */

/* With CD_NO_SHORT_NAMES the short names are the program's own. Returns nonzero on failure. */

#define CD_NO_SHORT_NAMES
#include "cd/cd.h"
#include "cd/mpi_log.h"

#include <stdio.h>

enum {
    SUCCESS = 100,
    FAILURE,
    READ_ONLY,
    READ_WRITE,
    GLOBAL,
    CONSTRAINED,
    CURRENT_CD,
    COMM_LOGGING_DISABLED,
    COMM_LOGGING_ENABLED,
    COMM_LOGGING_INHERIT,
    MPI_LOGGING_DISABLED,
    MPI_LOGGING_ENABLED,
    MPI_LOGGING_INHERIT
};

static int regenerate(struct cd_addrspec addrlist[], int ascount) {
    *(int *)addrlist[0].address = ascount;
    return 0;
}

int main(void) {
    int x = 5, y = 0;
    struct cd_addrspec as[1] = {{&x, sizeof(x), CD_READ_WRITE, CD_GLOBAL}};
    struct cd_addrspec generated[1] = {{&y, sizeof(y), CD_READ_ONLY, CD_CONSTRAINED}};
    cd_handle root = create_cd(NULL, NULL, CD_COMM_LOGGING_ENABLED, "prefixed", NULL);
    cd_handle child = create_cd(CD_CURRENT_CD, NULL, CD_MPI_LOGGING_INHERIT, NULL, NULL);
    int good = root != NULL && child != NULL;
    good = good && add_to_cd_via_copy(root, as, 1) == CD_SUCCESS;
    good = good && add_to_cd_via_parent(child, as, 1, NULL) == CD_SUCCESS;
    good = good && add_to_cd_via_regen(child, generated, 1, regenerate) == CD_SUCCESS;
    x = 6;
    good = good && restore_cd(child) == CD_SUCCESS && x == 5 && y == 1;
    good = good && commit_cd(root) == CD_FAILURE && cd_last_error() == CD_ERROR_HAS_CHILDREN;
    good = good && commit_cd(child) == CD_SUCCESS && commit_cd(root) == CD_SUCCESS;
    if (!good) {
        printf("%s (an own name is %d)\n", cd_last_error_message(), MPI_LOGGING_INHERIT);
    }
    return good ? 0 : 1;
}
