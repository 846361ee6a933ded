/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */

#include <cd/cd.h>

int main(void) {
    double state = 1.0;
    struct cd_addrspec keep = {&state, sizeof(state), READ_WRITE, GLOBAL};
    cd_handle cd = create_cd(NULL, NULL, COMM_LOGGING_DISABLED, "root", NULL);
    add_to_cd_via_copy(cd, &keep, 1); /* before the work that changes it */
    state = -1.0;                     /* the work goes wrong ... */
    restore_cd(cd);                   /* ... and state is 1.0 again */
    return commit_cd(cd) == SUCCESS && state == 1.0 ? 0 : 1;
}
