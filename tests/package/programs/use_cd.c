/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */

/* What an outside C program does first: keep something, change it, bring it back. */
#include "cd/cd.h"
#include "cd/mpi_log.h"

#include <stdio.h>

static int fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, cd_last_error_message());
    return 1;
}

int main(void) {
    int value = 1;
    int error = -1;
    struct cd_addrspec list[1] = {{NULL, sizeof(value), READ_WRITE, GLOBAL}};
    cd_handle cd = create_cd(NULL, NULL, COMM_LOGGING_ENABLED, "outside", &error);

    list[0].address = &value;
    if (cd == NULL || error != CD_ERROR_NONE)
        return fail("create_cd");
    if (add_to_cd_via_copy(cd, list, 1) != SUCCESS)
        return fail("add_to_cd_via_copy");
    value = 2;
    if (restore_cd(CURRENT_CD) != SUCCESS || value != 1)
        return fail("restore_cd");
    if (delete_MPI_log_from_cd(cd) != SUCCESS)
        return fail("delete_MPI_log_from_cd");
    if (commit_cd(cd) != SUCCESS)
        return fail("commit_cd");
    if (restore_cd(cd) != FAILURE || cd_last_error() != CD_ERROR_INVALID_HANDLE)
        return fail("restore_cd of a committed CD");
    return 0;
}
