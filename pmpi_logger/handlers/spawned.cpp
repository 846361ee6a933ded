// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/spawned.h"

#include "objects/lifetimes.h"
#include "payload/ended_connections.h"
#include "record_all/record_all.h"

namespace cd::logger {
namespace {

// True if the log disconnects it later and does not know where it was made.
bool is_disconnected_later(MPI_Comm comm, const cd_log_place &place) {
    const std::optional<EndedConnection> meant = EndedConnections::find(comm);
    return meant && meant->freed && meant->made.family == 0 &&
           meant->freed_at.stream == place.stream;
}

void note_made(MPI_Comm comm) {
    const std::optional<cd_log_place> place = last_entry();
    if (RecordAll::records() || !place) {
        return;
    }
    std::optional<EndedConnection> known = EndedConnections::made_at(*place, comm);
    if (!known) {
        if (is_disconnected_later(comm, *place)) {
            return;
        }
        known.emplace();
        known->handle = comm;
        known->in_fortran = number_in_mpi(comm);
        known->number = next_owner();
        known->made = *place;
        known->is_other = true;
        when_forgotten(*place, [number = known->number] { EndedConnections::remove(number); });
    }
    EndedConnections::add(*known);
}

} // namespace

void comm_made(MPI_Comm comm) {
    if (comm != MPI_COMM_NULL && EndedConnections::may_have(comm)) {
        note_made(comm);
    }
}

void connection_made(MPI_Comm comm) {
    if (comm != MPI_COMM_NULL) {
        note_made(comm);
    }
}

} // namespace cd::logger
