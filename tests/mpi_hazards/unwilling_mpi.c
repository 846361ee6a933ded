/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */
#include "unwilling_mpi.h"

#include <dlfcn.h>
#include <mpi.h>
#include <string.h>

static int none_in_common;
static void (*at_the_end_of_a_wait)(void);

void let_groups_have_no_rank_in_common(int none) { none_in_common = none; }

/* C knows no cast from an object's address to a function's. */
static void find(const char *name, void *function) {
    void *const found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

int PMPI_Group_translate_ranks(MPI_Group from, int count, const int ranks[], MPI_Group to,
                               int translated[]) {
    int (*translate)(MPI_Group, int, const int[], MPI_Group, int[]) = NULL;
    find("PMPI_Group_translate_ranks", &translate);
    const int result = translate(from, count, ranks, to, translated);
    for (int i = 0; none_in_common && i < count; ++i) {
        translated[i] = MPI_UNDEFINED;
    }
    return result;
}

void call_at_the_end_of_a_wait(void (*function)(void)) { at_the_end_of_a_wait = function; }

int PMPI_Wait(MPI_Request *request, MPI_Status *status) {
    int (*wait)(MPI_Request *, MPI_Status *) = NULL;
    find("PMPI_Wait", &wait);
    const int result = wait(request, status);
    void (*const function)(void) = at_the_end_of_a_wait;
    at_the_end_of_a_wait = NULL;
    if (function != NULL) {
        function();
    }
    return result;
}
