/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */

/* same_as_c: makes calls in Fortran under the logger, fails, and makes them again from the log:
   they give the same, byte by byte. The same calls in C give the same numbers, and have left as
   many entries in their log: no call of Fortran is logged twice or not at all. One rank fails, then
   the other. Arguments choose some of calls.h. And what a restore undoes, which is older than the
   domain, is as either language had left it. */

#include "calls.h"

#include <cd/cd.h>

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the calls of one run have given. */
static struct given {
    int notes[2048];
    int noted;
    unsigned char kept[8192];
    int kept_bytes;
    int described;
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

void described(int sections) { given.described += sections; }

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

static void compare(const char *calls, void (*in_fortran)(void), void (*in_c)(void), int fails) {
    static struct given recorded, replayed, of_c;
    cd_handle cd = new_cd();
    size_t logged, logged_in_c;

    recorded = run(in_fortran);
    logged = info_of(cd).log_length;
    check(logged > 0 && recorded.noted > 0, calls, "nothing is logged");
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

    cd = new_cd();
    of_c = run(in_c);
    logged_in_c = info_of(cd).log_length + 2 * (size_t)recorded.described;
    commit_cd(cd);
    check(same_notes(&recorded, &of_c, calls), calls, "C gets other numbers");
    if (logged != logged_in_c)
        fprintf(stderr, "rank %d, %s: %zu entries, and not %zu as in C\n", rank, calls, logged,
                logged_in_c);
    check(logged == logged_in_c, calls, "C logs another number of calls");
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
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], calls) == 0)
            return 1;
    }
    return argc == 1;
}

int main(int argc, char **argv) {
    int failures_of_all = 0, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2) {
        fprintf(stderr, "same_as_c: needs 2 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int failing = 0; failing < ranks; ++failing) {
#define COMPARE(name)                                                                              \
    if (chosen(#name, argc, argv))                                                                 \
        compare(#name, fortran_##name, c_##name, rank == failing);
        CALLS(COMPARE)
#undef COMPARE
        undo(rank == failing);
    }
    MPI_Allreduce(&failures, &failures_of_all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return failures_of_all == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
