// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/communicators.h"

#include "objects/deferred_free.h"
#include "replay/divergence.h"

namespace cd::logger {

EndedConnection CommFree::about_to_end(MPI_Comm comm) {
    const ReentryGuard inside;
    EndedConnection connection = EndedConnections::take(comm).value_or(EndedConnection());
    if (connection.number == 0) {
        connection.number = next_owner_number();
    }
    connection.handle = comm;
    connection.in_fortran = number_in_mpi(comm);
    connection.facts = ask_comm_facts(comm);
    return connection;
}

int CommQuery::refuse_ended_connection(Fn fn, const void *site, MPI_Comm comm) {
    report_unanswerable(
        fn, site,
        "the program disconnected this communicator later, so only ranks and sizes are "
        "known. Ask before the CD begins, or advance before MPI_Comm_disconnect");
    return raise(comm, MPI_ERR_OTHER);
}

} // namespace cd::logger
