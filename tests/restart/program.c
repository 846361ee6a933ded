/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */
/* Stores a global variable, or restores it; BUILD makes it another program,
   of other data and of other code. With a second argument it first tries that while it cannot open
   anything. */
#include "cd/cd.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static int values[1000] = {BUILD};

enum { most_files = 40 };

static int is_refused_while_nothing_can_be_opened(const char *storage) {
    const struct rlimit limit = {most_files, most_files};
    int files[most_files];
    int count = 0;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return 0;
    }
    while ((files[count] = open("/dev/null", O_RDONLY)) >= 0) {
        ++count;
    }
    const int refused = create_cd(NULL, storage, CD_COMM_LOGGING_DISABLED, "root", NULL) == NULL;
    while (count > 0) {
        close(files[--count]);
    }
    return refused;
}

int main(int argc, char **argv) {
    if (argc > 2 && !is_refused_while_nothing_can_be_opened(argv[argc - 1])) {
        printf("not refused");
        return 0;
    }
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
