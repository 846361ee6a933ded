/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */

/* Leaves a store as a program that was killed leaves it. What it holds is always the same; where
   it lies and how it is kept is CD_STORAGE_INFO's, and its rank the launcher's.
   make_stores [wait]: says "ready" and then waits, with the store open, until it is killed.
   make_stores churn: says "ready" and then goes on for ever. */
#include <cd/cd.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Known by object and offset, in this order whatever the compiler does with variables. The array is
   more than one checked part. */
static struct {
    long steps;
    double unused[3];
    double temperature[20000];
} heat;

static void must(int good, const char *what) {
    if (!good) {
        fprintf(stderr, "make_stores: %s: %s\n", what, cd_last_error_message());
        exit(EXIT_FAILURE);
    }
}

static void fill(double with) {
    for (size_t i = 0; i < sizeof(heat.temperature) / sizeof(*heat.temperature); i++)
        heat.temperature[i] = with + (double)i;
    heat.steps++;
}

static int regenerate(struct cd_addrspec *list, int count) {
    for (int i = 0; i < count; i++)
        memset(list[i].address, 0, list[i].length);
    return 0;
}

static void churn(cd_handle root, const struct cd_addrspec *list, int count) {
    for (;;) {
        must(add_to_cd_via_copy(root, list, count) == SUCCESS, "add");
        fill(0.5 * (double)heat.steps);
        must(advance_cd_point_in_time(root) == SUCCESS, "advance");
    }
}

int main(int argc, char **argv) {
    char *halo = calloc(1, 3000); /* known by its name */
    char *list = calloc(1, 100);  /* known by its order */
    char table[64];
    struct cd_addrspec in_root[] = {
        {heat.temperature, sizeof(heat.temperature), READ_WRITE, GLOBAL},
        {&heat.steps, sizeof(heat.steps), READ_WRITE, GLOBAL},
        {halo, 3000, READ_WRITE, GLOBAL},
        {list, 100, READ_ONLY, CONSTRAINED}};
    struct cd_addrspec from_parent = {heat.temperature, 8000, READ_WRITE, GLOBAL};
    struct cd_addrspec again = {table, sizeof(table), READ_ONLY, GLOBAL};
    struct cd_info info;
    cd_handle root, child;
    int file = open("/proc/self/exe", O_RDONLY);

    must(halo != NULL && list != NULL && file >= 0, "start");
    must(cd_name_region("halo", halo, 3000) == SUCCESS, "name");
    root = create_cd(NULL, NULL, COMM_LOGGING_DISABLED, "heat", NULL);
    must(root != NULL, "create the root");
    fill(1.0);
    memset(halo, 'h', 3000);
    memset(list, 'l', 100);
    must(add_to_cd_via_copy(root, in_root, 4) == SUCCESS, "add");
    must(cd_query(root, &info) == SUCCESS, "query");
    if (info.restarted) {
        child = create_cd(root, NULL, COMM_LOGGING_INHERIT, NULL, NULL);
        must(child != NULL, "create the child again");
        must(add_to_cd_via_regen(child, &again, 1, regenerate) == SUCCESS, "add via regen again");
        must(restore_cd(root) == SUCCESS, "restore");
    }
    for (int i = 0; i < 3; i++) {
        must(add_to_cd_via_copy(root, in_root, 3) == SUCCESS, "add again");
        fill(10.0 * i);
        must(advance_cd_point_in_time(root) == SUCCESS, "advance");
    }
    if (argc > 1 && strcmp(argv[1], "churn") == 0) {
        puts("ready");
        fflush(stdout);
        churn(root, in_root, 3);
    }
    child = create_cd(root, NULL, COMM_LOGGING_INHERIT, NULL, NULL);
    must(child != NULL, "create the child");
    must(add_to_cd_via_parent(child, &from_parent, 1) == SUCCESS, "add via parent");
    must(add_to_cd_via_regen(child, &again, 1, regenerate) == SUCCESS, "add via regen");
    must(lseek(file, 100, SEEK_SET) == 100 && add_file_to_cd(child, file) == SUCCESS, "add file");
    puts("ready");
    fflush(stdout);
    if (argc > 1)
        for (;;)
            pause();
    _exit(EXIT_SUCCESS);
}
