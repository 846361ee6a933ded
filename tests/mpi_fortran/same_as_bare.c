/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */

/* same_as_bare MODE FILE [CALLS...]: makes calls of MPI in Fortran. MODE "bare", without the
   logger: writes the numbers that they give to FILE.RANK. MODE "logged", with the logger: makes
   them in a domain, where they give the same numbers, fails, and makes them again from the log:
   they give the same bytes. One rank fails, then the other. And what a restore undoes, which is
   older than the domain, is as either language had left it. */

#include <cd/cd.h>

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The calls of calls.F90. */
#define CALLS(X)                                                                                   \
    X(in_place)                                                                                    \
    X(bottom)                                                                                      \
    X(ignored)                                                                                     \
    X(unweighted)                                                                                  \
    X(statuses)                                                                                    \
    X(logicals)                                                                                    \
    X(handles)                                                                                     \
    X(strings)                                                                                     \
    X(buffers)                                                                                     \
    X(windows)                                                                                     \
    X(attributes)                                                                                  \
    X(old_attributes)                                                                              \
    X(error_handlers)

#define DECLARE(name) void fortran_##name(void);
CALLS(DECLARE)
#undef DECLARE

/* Attributes and names of objects that a domain does not make: made; noted; changed and deleted;
 * freed. */
void old_values_made(void);
void old_values_told(void);
void old_values_changed(void);
void old_values_freed(void);

/* What calls.F90 calls. note(): a number that is the same without the logger. keep(): bytes that a
   replay has to give again. */
void note(int number);
void keep(const void *bytes, int length);
void c_sets(int comm, int comm_key, int datatype, int type_key, int win, int win_key);
void c_tells(int comm, int comm_key, int datatype, int type_key, int win, int win_key);

/* What the calls of one run have given. */
static struct given {
    int notes[2048];
    int noted;
    unsigned char kept[8192];
    int kept_bytes;
} given;

static int failures = 0, rank;

void note(int number) {
    if (given.noted == sizeof(given.notes) / sizeof(*given.notes))
        MPI_Abort(MPI_COMM_WORLD, 2);
    given.notes[given.noted++] = number;
}

void keep(const void *bytes, int length) {
    if (length > (int)sizeof(given.kept) - given.kept_bytes)
        MPI_Abort(MPI_COMM_WORLD, 2);
    memcpy(given.kept + given.kept_bytes, bytes, (size_t)length);
    given.kept_bytes += length;
}

/* An attribute that C has set is its address. */
static char of_c;

void c_sets(int comm, int comm_key, int datatype, int type_key, int win, int win_key) {
    MPI_Comm_set_attr(MPI_Comm_f2c(comm), comm_key, &of_c);
    MPI_Type_set_attr(MPI_Type_f2c(datatype), type_key, &of_c);
    MPI_Win_set_attr(MPI_Win_f2c(win), win_key, &of_c);
}

/* C gets the address of what Fortran has set. */
static void tell(const void *value, int flag) {
    note(flag);
    if (flag) {
        note(value == &of_c);
        if (value != &of_c)
            note(*(const int *)value);
    }
}

void c_tells(int comm, int comm_key, int datatype, int type_key, int win, int win_key) {
    void *value;
    int flag;

    MPI_Comm_get_attr(MPI_Comm_f2c(comm), comm_key, &value, &flag);
    tell(value, flag);
    MPI_Type_get_attr(MPI_Type_f2c(datatype), type_key, &value, &flag);
    tell(value, flag);
    MPI_Win_get_attr(MPI_Win_f2c(win), win_key, &value, &flag);
    tell(value, flag);
}

static void check(int good, const char *calls, const char *what) {
    if (good)
        return;
    fprintf(stderr, "rank %d, %s: %s\n", rank, calls, what);
    ++failures;
}

static int same_notes(const struct given *one, const struct given *other, const char *calls) {
    for (int i = 0; i < one->noted && i < other->noted; ++i) {
        if (one->notes[i] != other->notes[i]) {
            fprintf(stderr, "rank %d, %s: note %d is %d, and then %d\n", rank, calls, i,
                    one->notes[i], other->notes[i]);
            return 0;
        }
    }
    return one->noted == other->noted;
}

static struct cd_info info_of(cd_handle cd) {
    struct cd_info info = {0};

    if (cd_query(cd, &info) != SUCCESS) {
        fprintf(stderr, "%s\n", cd_last_error_message());
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return info;
}

static struct given run(void (*calls)(void)) {
    memset(&given, 0, sizeof(given));
    calls();
    return given;
}

static cd_handle new_cd(void) {
    cd_handle cd = create_cd(NULL, NULL, COMM_LOGGING_ENABLED, "root", NULL);

    if (cd == NULL) {
        fprintf(stderr, "%s\n", cd_last_error_message());
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return cd;
}

static void restore(cd_handle cd) {
    if (restore_cd(cd) != SUCCESS) {
        fprintf(stderr, "%s\n", cd_last_error_message());
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

static void compare(const char *calls, void (*in_fortran)(void), const struct given *bare,
                    int fails) {
    static struct given recorded, replayed;
    cd_handle cd = new_cd();
    size_t logged;

    recorded = run(in_fortran);
    logged = info_of(cd).log_length;
    check(logged > 0 && recorded.noted > 0, calls, "nothing is logged");
    check(same_notes(bare, &recorded, calls), calls, "the logger changes the numbers");
    if (fails) {
        restore(cd);
        check(info_of(cd).log_remaining == logged, calls, "the log does not replay as a whole");
        replayed = run(in_fortran);
        check(!info_of(cd).replaying, calls, "the log is not used up");
        check(info_of(cd).log_length == logged, calls, "the replay has made the log longer");
        check(same_notes(&recorded, &replayed, calls), calls, "a replay gives other numbers");
        check(recorded.kept_bytes == replayed.kept_bytes &&
                  memcmp(recorded.kept, replayed.kept, sizeof(recorded.kept)) == 0,
              calls, "a replay gives other bytes");
    }
    commit_cd(cd);
}

/* Makes the calls without a domain, and writes what they give; or reads that. */
static struct given without_logger(void (*in_fortran)(void), FILE *file, int writes) {
    static struct given bare;

    if (writes)
        bare = run(in_fortran);
    if ((writes ? fwrite(&bare, sizeof bare, 1, file) : fread(&bare, sizeof bare, 1, file)) != 1)
        MPI_Abort(MPI_COMM_WORLD, 2);
    return bare;
}

/* The domain of the rank that fails is restored; on the other one the changes stay. */
static void undo(int fails) {
    static const char calls[] = "attributes and names older than the domain";
    static struct given before, after, changed, again;
    cd_handle cd;

    old_values_made();
    before = run(old_values_told);
    cd = new_cd();
    changed = run(old_values_changed);
    if (fails) {
        restore(cd);
        again = run(old_values_changed);
        check(!info_of(cd).replaying, calls, "the log is not used up");
        check(same_notes(&changed, &again, calls), calls, "a replay gives other numbers");
        restore(cd);
        commit_cd(cd);
        after = run(old_values_told);
        check(same_notes(&before, &after, calls), calls, "a restore does not undo the changes");
    } else {
        commit_cd(cd);
    }
    old_values_freed();
}

static int chosen(const char *calls, int argc, char **argv) {
    for (int i = 3; i < argc; ++i) {
        if (strcmp(argv[i], calls) == 0)
            return 1;
    }
    return argc == 3;
}

static FILE *notes_of_rank(const char *path, int writes) {
    char name[4096];
    FILE *file;

    snprintf(name, sizeof name, "%s.%d", path, rank);
    file = fopen(name, writes ? "wb" : "rb");
    if (file == NULL) {
        perror(name);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return file;
}

int main(int argc, char **argv) {
    int failures_of_all = 0, ranks, writes;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2 || argc < 3) {
        fprintf(stderr, "same_as_bare bare|logged FILE [CALLS...]: needs 2 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    writes = strcmp(argv[1], "bare") == 0;
    for (int failing = 0; failing < (writes ? 1 : ranks); ++failing) {
        FILE *file = notes_of_rank(argv[2], writes);
#define COMPARE(name)                                                                              \
    {                                                                                              \
        const struct given bare = without_logger(fortran_##name, file, writes);                    \
        if (!writes && chosen(#name, argc, argv))                                                  \
            compare(#name, fortran_##name, &bare, rank == failing);                                \
    }
        CALLS(COMPARE)
#undef COMPARE
        fclose(file);
        if (!writes)
            undo(rank == failing);
    }
    MPI_Allreduce(&failures, &failures_of_all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return failures_of_all == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
