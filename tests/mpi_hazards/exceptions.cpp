// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Exceptions of the program's that leave a function of MPI.
#include "hazard.h"

namespace exceptions {

namespace {

struct HandlerSays {};

void throw_what_it_says(MPI_Comm *, int *, ...) { throw HandlerSays(); }

bool throws(MPI_Comm comm) {
    const int sent = 5;
    try {
        MPI_Send(&sent, 1, MPI_INT, world_size(), 3, comm);
    } catch (const HandlerSays &) {
        return true;
    }
    return false;
}

} // namespace

// What is called later is recorded, but the log lacks the call.
HAZARD(exception_that_leaves_a_call_is_missing_in_the_log) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(throw_what_it_says, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    Domain domain;
    CHECK(throws(comm));
    CHECK(restore_cd(domain.handle()) != SUCCESS);
    CHECK(cd_last_error() == CD_ERROR_LOG_INCOMPLETE);
    domain.advance();
    MPI_Barrier(MPI_COMM_SELF);
    CHECK(domain.info().log_length == 1);
    domain.restore();
    MPI_Barrier(MPI_COMM_SELF);
    CHECK(throws(comm));
    domain.advance();
    MPI_Barrier(MPI_COMM_SELF);
    CHECK(throws(comm)); // when the thread has just recorded
    CHECK(restore_cd(domain.handle()) != SUCCESS);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
}

} // namespace exceptions
