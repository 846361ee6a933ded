/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */
/* Stores two global variables, or restores them. ORDER is that in which they lie, which nothing but
   other data tells: the code is the same. */
#include "cd/cd.h"

#include <stdio.h>

static struct {
#if ORDER == 1
    int first[100];
    int second[100];
#else
    int second[100];
    int first[100];
#endif
} values = {.first = {1}, .second = {2}};

static int *volatile places[] = {values.first, values.second};

int main(int argc, char **argv) {
    cd_handle root = create_cd(NULL, argv[argc - 1], CD_COMM_LOGGING_DISABLED, "root", NULL);
    struct cd_info info = {0};
    const struct cd_addrspec list[] = {{places[0], sizeof values.first, CD_READ_ONLY, CD_GLOBAL},
                                       {places[1], sizeof values.second, CD_READ_ONLY, CD_GLOBAL}};
    int done = root != NULL && cd_query(root, &info) == CD_SUCCESS;
    if (done && info.restarted) {
        done = restore_cd(root) == CD_SUCCESS;
    } else if (done) {
        done = add_to_cd_via_copy(root, list, 2, NULL) == CD_SUCCESS &&
               advance_cd_point_in_time(root) == CD_SUCCESS;
    }
    if (!done) {
        printf("%d %s", (int)cd_last_error(), cd_last_error_message());
    } else {
        printf("%s", !info.restarted     ? "stored"
                     : places[0][0] == 1 ? "restored"
                                         : "restored in wrong places");
    }
    return 0;
}
