// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/spawned.h"

#include "objects/deferred_free.h"
#include "payload/ended_connections.h"
#include "record_all/record_all.h"

namespace cd::logger {

void connection_made(MPI_Comm comm) {
    const std::optional<cd_log_place> place = last_entry();
    if (comm == MPI_COMM_NULL || RecordAll::records() || !place) {
        return;
    }
    std::optional<EndedConnection> known = EndedConnections::made_at(*place, comm);
    if (!known) {
        known.emplace();
        known->handle = comm;
        known->in_fortran = number_in_mpi(comm);
        known->number = next_owner_number();
        known->made = *place;
        when_forgotten(*place, [number = known->number] { EndedConnections::remove(number); });
    }
    EndedConnections::add(*known);
}

} // namespace cd::logger
