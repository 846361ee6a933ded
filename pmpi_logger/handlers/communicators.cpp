// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/communicators.h"

#include "handlers/object_state.h"
#include "mpi/mpi_lifetime.h"
#include "objects/deferred_free.h"
#include "replay/divergence.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace cd::logger {
int CommFree::leads_elsewhere(MPI_Comm comm, bool &elsewhere) {
    if (comm == MPI_COMM_NULL || RecordAll::records() || EndedConnections::has(comm)) {
        return MPI_SUCCESS;
    }
    const ReentryGuard inside;
    int inter = 0;
    const int result = real<Fn::MPI_Comm_test_inter>(comm, &inter);
    elsewhere = result == MPI_SUCCESS && inter != 0;
    if (!elsewhere || !MpiLife::has_world()) {
        return result;
    }
    MPI_Group others = MPI_GROUP_NULL;
    MPI_Group here = MPI_GROUP_NULL;
    real<Fn::MPI_Comm_remote_group>(comm, &others);
    real<Fn::MPI_Comm_group>(MPI_COMM_WORLD, &here);
    int size = 0;
    real<Fn::MPI_Group_size>(others, &size);
    std::vector<int> ranks(static_cast<size_t>(size));
    std::iota(ranks.begin(), ranks.end(), 0);
    std::vector<int> ranks_here(ranks.size());
    real<Fn::MPI_Group_translate_ranks>(others, size, ranks.data(), here, ranks_here.data());
    real<Fn::MPI_Group_free>(&others);
    real<Fn::MPI_Group_free>(&here);
    elsewhere = std::ranges::count(ranks_here, MPI_UNDEFINED) != 0;
    return MPI_SUCCESS;
}

EndedConnection CommFree::about_to_end(MPI_Comm comm) {
    const ReentryGuard inside;
    EndedConnection connection = EndedConnections::take(comm).value_or(EndedConnection());
    if (connection.number == 0) {
        connection.number = next_owner();
    }
    connection.handle = comm;
    connection.in_fortran = number_in_mpi(comm);
    connection.facts = ask_comm_facts(comm);
    return connection;
}

void CommFree::hold_handler(EndedConnection &connection) {
    cd_log_place place = {};
    if (cd_log_here(&place) != 0) {
        connection.handler = held_handler<Fn::MPI_Comm_get_errhandler>(connection.handle, place);
    }
}

int CommQuery::of_ended_connection(Fn fn, const void *site, MPI_Comm comm) {
    complain_unknown(fn, site,
                     "the program disconnected this connection to another job later, so only ranks "
                     "and sizes are known. Ask before the domain begins, or advance between asking "
                     "and MPI_Comm_disconnect");
    return raise(comm, MPI_ERR_OTHER);
}

// A restore goes back to when the program had it.
void CommFree::connection_ended(EndedConnection &connection) {
    connection.freed = true;
    if (const std::optional<cd_log_place> place = last_entry()) {
        if (note_freed(connection, *place)) {
            when_forgotten(*place,
                           [number = connection.number] { EndedConnections::remove(number); });
        }
        when_restored(*place, [connection] { EndedConnections::put_back(connection); });
    }
}

} // namespace cd::logger
