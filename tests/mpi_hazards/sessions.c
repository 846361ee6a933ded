/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the containment-domains authors */
/* A program of MPI 4 that has sessions, and never calls MPI_Init: it is restored while they are
   there, and not after the end of the last one. */
#include "cd/cd.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "%s does not hold; %s\n", what, cd_last_error_message());
        abort();
    }
}
#define CHECK(condition) check(condition, #condition)

enum { count = 4, fetched = 1, later = 2 };

static MPI_Session session;
static MPI_Comm comm;
static int rank;

static void begin(void) {
    MPI_Group group;
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session) == MPI_SUCCESS);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "cd", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
}

static void end(void) {
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}

static void be_the_other(void) {
    int spread[2 * count];
    for (int i = 0; i < 2 * count; ++i) {
        spread[i] = i;
    }
    MPI_Send(spread, 2 * count, MPI_INT, 0, fetched, comm);
    MPI_Send(NULL, 0, MPI_INT, 0, later, comm);
}

/* Its message is there when the later one is, and goes to gaps in the buffer. */
static void receive(int *buffer, MPI_Request *request) {
    MPI_Datatype spread;
    MPI_Type_vector(2 * count, 1, 2, MPI_INT, &spread);
    MPI_Type_commit(&spread);
    MPI_Irecv(buffer, 1, spread, 1, fetched, comm, request);
    MPI_Type_free(&spread);
    MPI_Recv(NULL, 0, MPI_INT, 1, later, comm, MPI_STATUS_IGNORE);
}

int main(void) {
    begin();
    if (rank == 1) {
        be_the_other();
        end();
        return 0;
    }
    static int buffer[4 * count];
    const struct cd_addrspec keep = {buffer, sizeof buffer, READ_WRITE, GLOBAL};
    cd_handle cd = create_cd(NULL, NULL, COMM_LOGGING_ENABLED, "sessions", NULL);
    CHECK(cd != NULL);
    CHECK(add_to_cd_via_copy(cd, &keep, 1) == SUCCESS);
    MPI_Request request;
    for (int i = 0; i < 3; ++i) {
        receive(buffer, &request);
        CHECK(restore_cd(cd) == SUCCESS);
        CHECK(buffer[2] == 0);
    }
    receive(buffer, &request);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    for (int i = 0; i < 4 * count; ++i) {
        CHECK(buffer[i] == (i % 2 == 0 ? i / 2 : 0));
    }
    end();
    CHECK(restore_cd(cd) == FAILURE);
    CHECK(cd_last_error() == CD_ERROR_LOG_PENDING);
    CHECK(commit_cd(cd) == SUCCESS);
    return 0;
}
