/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */
/* Wrote store_of_format_7.packed (README.md): two processes, each of which is killed in a child. */
#include "cd/cd.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *storage;
static char of_program[100]; /* known by the program's or library's name and build-id */
static char *field;          /* known by a name, and of more than one checksum */
static char *constant;       /* known by their order */
static char *changing;
static int file; /* that children add; since version 5 */

enum { field_size = 70000, constant_size = 3000, changing_size = 5000 };

static void check(int holds) {
    if (!holds) {
        fprintf(stderr, "%s\n", cd_last_error_message());
        exit(1);
    }
}

static void add(cd_handle cd, void *at, size_t length, enum addr_type access) {
    const struct cd_addrspec range = {at, length, access, CD_GLOBAL};
    check(add_to_cd_via_copy(cd, &range, 1, NULL) == CD_SUCCESS);
}

static char *made_of(int byte, size_t length) { return memset(malloc(length), byte, length); }

static cd_handle child_of(cd_handle root) {
    cd_handle child = create_cd(root, NULL, CD_COMM_LOGGING_INHERIT, NULL, NULL);
    check(child != NULL);
    return child;
}

/* A file at a position. */
static int opened_at(const char *name, off_t position) {
    const int opened = open(name, O_RDWR | O_CREAT, 0600);
    check(lseek(opened, position, SEEK_SET) == position);
    return opened;
}

static void die_in_child_with(cd_handle child, size_t changed, size_t kept) {
    check(add_file_to_cd(child, file) == CD_SUCCESS);
    add(child, made_of(9, changed), changed, CD_READ_WRITE);
    add(child, made_of(8, kept), kept, CD_READ_ONLY);
    raise(SIGKILL);
}

static void add_all(cd_handle root) {
    add(root, of_program, sizeof of_program, CD_READ_ONLY);
    add(root, field, field_size, CD_READ_WRITE);
    add(root, constant, constant_size, CD_READ_ONLY);
    add(root, changing, changing_size, CD_READ_WRITE);
}

static cd_handle begin(void) {
    cd_handle root = create_cd(NULL, storage, CD_COMM_LOGGING_DISABLED, "alpha", NULL);
    memset(of_program, 'p', sizeof of_program);
    field = made_of(0, field_size);
    constant = made_of('c', constant_size);
    changing = made_of(0, changing_size);
    file = opened_at("of-children", 24);
    check(root != NULL && cd_name_region("field", field, field_size) == CD_SUCCESS);
    return root;
}

static void change_in_child(cd_handle root, size_t length) {
    cd_handle child = child_of(root);
    add(child, field, length, CD_READ_WRITE);
    check(commit_cd(child) == CD_SUCCESS);
}

static void first(void) {
    cd_handle root = begin();
    check(add_file_to_cd(root, opened_at("of-root", 42)) == CD_SUCCESS);
    for (int step = 1; step <= 3; ++step) {
        add_all(root);
        memset(field, step, field_size);
        memset(changing, step, changing_size);
        change_in_child(root, field_size); /* a half before version 6 */
        check(advance_cd_point_in_time(root) == CD_SUCCESS);
    }
    die_in_child_with(child_of(root), 1000, 500);
}

static void second(void) {
    cd_handle root = begin();
    add_all(root);
    check(restore_cd(root) == CD_SUCCESS && field[0] == 3 && changing[0] == 3);
    for (int i = 0; i < 25; ++i) { /* until the metadata have moved; once each before version 7 */
        cd_handle child = child_of(root);
        memset(field, 7, field_size);
        for (int j = 0; j < 3; ++j) {
            const struct cd_addrspec all = {field, field_size, CD_READ_WRITE, CD_GLOBAL};
            add(child, field, field_size, CD_READ_WRITE);
            check(delete_from_cd(child, &all, 1) == CD_SUCCESS);
        }
        check(commit_cd(child) == CD_SUCCESS);
    }
    die_in_child_with(child_of(root), 600, 300);
}

int main(int count, char **arguments) {
    void (*const processes[])(void) = {first, second};
    check(count == 2);
    storage = arguments[1];
    for (int i = 0; i < 2; ++i) {
        int status = 0;
        if (fork() == 0) {
            processes[i]();
        }
        check(wait(&status) > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    return 0;
}
