/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */

/* Every call form of the seed in C99, and that each does what it says. Returns nonzero at the first
   check that fails. */

#include "cd/cd.h"
#include "cd/mpi_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int checks_failed = 0;

static void check(int is_true, const char *what) {
    if (!is_true) {
        ++checks_failed;
        printf("not true: %s (%s: %s)\n", what, cd_strerror(cd_last_error()),
               cd_last_error_message());
    }
}

#define CHECK(condition) check((condition), #condition)

static int write_sevens(struct cd_addrspec addrlist[], int ascount) {
    int i;
    for (i = 0; i < ascount; ++i) {
        memset(addrlist[i].address, 7, addrlist[i].length);
    }
    return 0;
}

static size_t bytes_of(cd_handle cd) {
    struct cd_info info;
    memset(&info, 0, sizeof info);
    CHECK(cd_query(cd, &info) == SUCCESS);
    return info.bytes;
}

static void every_form_of_copy(cd_handle cd, char *storage_info) {
    int x = 1, y = 2;
    struct cd_addrspec as[1] = {{&x, sizeof(x), READ_WRITE, GLOBAL}};
    struct cd_addrspec two[2] = {{&x, sizeof(x), READ_WRITE, GLOBAL},
                                 {&y, sizeof(y), READ_ONLY, GLOBAL}};
    struct cd_addrspec single = {&y, sizeof(y), READ_ONLY, GLOBAL};
    CHECK(add_to_cd_via_copy(cd, as, 1) == SUCCESS);
    CHECK(add_to_cd_via_copy(cd, as, 1, NULL) == SUCCESS);
    CHECK(add_to_cd_via_copy(cd, as, 1, storage_info) == SUCCESS);
    CHECK(add_to_cd_via_copy(cd, two, 2) == SUCCESS);
    CHECK(add_to_cd_via_copy(cd, &single, 1) == SUCCESS);
    CHECK(add_to_cd_via_copy(cd, &single, 1, "shadow=none") == SUCCESS);
    CHECK(add_to_cd_via_copy(cd, (struct cd_addrspec[]){{&x, sizeof(x), READ_WRITE, GLOBAL}}, 1) ==
          SUCCESS);
    CHECK(add_to_cd_via_copy(cd,
                             (struct cd_addrspec[]){{&x, sizeof(x), READ_WRITE, GLOBAL},
                                                    {&y, sizeof(y), READ_ONLY, GLOBAL}},
                             2, NULL) == SUCCESS);
    CHECK(add_to_cd_via_copy(cd, NULL, 0) == SUCCESS);
    CHECK(add_to_cd_via_copy(cd, as, 1, "colour=red") == FAILURE);
    CHECK(cd_last_error() == CD_ERROR_STORAGE_KEY);
    CHECK(bytes_of(cd) == sizeof(x) + sizeof(y));
    x = y = 9;
    CHECK(restore_cd(cd) == SUCCESS);
    CHECK(x == 1 && y == 2);
    CHECK(delete_from_cd(cd, two, 2) == SUCCESS);
}

static void every_form_of_parent(cd_handle root, char *storage_info) {
    int x = 1, error = -1;
    struct cd_addrspec as[1] = {{&x, sizeof(x), READ_WRITE, GLOBAL}};
    cd_handle child = create_cd(root, NULL, MPI_LOGGING_INHERIT, NULL, &error);
    CHECK(child != NULL && error == CD_ERROR_NONE);
    CHECK(add_to_cd_via_copy(root, as, 1) == SUCCESS);
    CHECK(add_to_cd_via_parent(child, as, 1) == SUCCESS);
    CHECK(add_to_cd_via_parent(child, as, 1, NULL) == SUCCESS);
    CHECK(add_to_cd_via_parent(child, as, 1, storage_info) == SUCCESS);
    CHECK(add_to_cd_via_parent(CURRENT_CD,
                               (struct cd_addrspec[]){{&x, sizeof(x), READ_WRITE, GLOBAL}},
                               1) == SUCCESS);
    x = 9;
    CHECK(restore_cd(child) == SUCCESS);
    CHECK(x == 1);
    CHECK(commit_cd(child) == SUCCESS);
    CHECK(delete_from_cd(root, as, 1) == SUCCESS);
}

static void every_form_of_regen(cd_handle cd, char *storage_info) {
    unsigned char x = 1;
    struct cd_addrspec as[1] = {{&x, sizeof(x), READ_ONLY, GLOBAL}};
    CHECK(add_to_cd_via_regen(cd, as, 1, write_sevens) == SUCCESS);
    CHECK(add_to_cd_via_regen(cd, as, 1, NULL, write_sevens) == SUCCESS);
    CHECK(add_to_cd_via_regen(cd, as, 1, storage_info, write_sevens) == SUCCESS);
    CHECK(add_to_cd_via_regen(cd, (struct cd_addrspec[]){{&x, sizeof(x), READ_ONLY, GLOBAL}}, 1,
                              write_sevens) == SUCCESS);
    CHECK(add_to_cd_via_regen(cd, as, 1, NULL, NULL) == FAILURE);
    CHECK(cd_last_error() == CD_ERROR_REGEN_NULL);
    CHECK(restore_cd(cd) == SUCCESS);
    CHECK(x == 7);
    CHECK(delete_from_cd(cd, as, 1) == SUCCESS);
}

/* "One CD used to recover from a transient CPU failure", as the seed has it. */
static void the_seeds_loop(void) {
    int data = 0, runs = 0;
    int done = 0, compute_done = 0, error, compute_error;
    char *storage_info = NULL;
    struct cd_addrspec addrlist[2] = {{&data, sizeof(data), READ_WRITE, GLOBAL},
                                      {&compute_done, sizeof(compute_done), READ_WRITE, GLOBAL}};
    cd_handle cd = create_cd(NULL, storage_info, COMM_LOGGING_DISABLED, "loop", &error);
    while (!done) {
        add_to_cd_via_copy(cd, addrlist, 2);
        data += 1;
        compute_error = ++runs % 3 == 0;
        if (compute_error) {
            data = -1;
        }
        if (data == 10) {
            compute_done = 1;
        }
        if (compute_error) {
            restore_cd(cd);
        } else {
            if (compute_done) {
                done = 1;
            } else if (advance_cd_point_in_time(cd) == FAILURE) {
                restore_cd(cd);
            }
        }
    }
    CHECK(commit_cd(cd) == SUCCESS);
    CHECK(data == 10 && runs == 14);
}

static void mpi_log(void) {
    int error = -1;
    char *entry = malloc(6);
    cd_handle cd = create_cd(NULL, NULL, COMM_LOGGING_ENABLED, "logs", &error);
    strcpy(entry, "entry");
    CHECK(add_MPI_log_to_cd(cd, entry, 6) == SUCCESS);
    CHECK(restore_cd(cd) == SUCCESS);
    CHECK(strcmp(get_MPI_log_from_cd(cd, &error), "entry") == 0);
    CHECK(get_MPI_log_from_cd(cd, &error) == NULL && error == CD_ERROR_NONE);
    CHECK(delete_MPI_log_from_cd(cd) == SUCCESS);
    CHECK(commit_cd(cd) == SUCCESS);
}

/* An address range without a scope is GLOBAL: how programs older than that field wrote them. */
static void fields_by_name(cd_handle cd) {
    int x = 1;
    struct cd_addrspec as = {.address = &x, .length = sizeof(x), .addr_tp = READ_WRITE};
    CHECK(add_to_cd_via_copy(cd, &as, 1) == SUCCESS);
    as.addr_scope = CONSTRAINED;
    CHECK(add_to_cd_via_copy(cd, &as, 1) == FAILURE);
    CHECK(cd_last_error() == CD_ERROR_SCOPE_FIXED);
    CHECK(delete_from_cd(cd, &as, 1) == SUCCESS);
}

int main(void) {
    int error = -1;
    char storage_info[] = "shadow=full";
    cd_handle root = create_cd(NULL, storage_info, COMM_LOGGING_DISABLED, "root", &error);
    CHECK(root != NULL && error == CD_ERROR_NONE);
    CHECK(READ_ONLY == 0 && READ_WRITE == 1 && GLOBAL == 0 && CONSTRAINED == 1);
    CHECK(COMM_LOGGING_DISABLED == 0 && COMM_LOGGING_ENABLED == 1 && COMM_LOGGING_INHERIT == 2);
    CHECK(MPI_LOGGING_DISABLED == 0 && MPI_LOGGING_ENABLED == 1 && MPI_LOGGING_INHERIT == 2);
    CHECK(SUCCESS == 0 && FAILURE == -1);
    every_form_of_copy(root, storage_info);
    every_form_of_parent(root, storage_info);
    every_form_of_regen(root, storage_info);
    fields_by_name(root);
    CHECK(bytes_of(root) == 0);
    CHECK(commit_cd(CURRENT_CD) == SUCCESS);
    the_seeds_loop();
    mpi_log();
    return checks_failed == 0 ? 0 : 1;
}
