// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "payload/ended_connections.h"

#include "mpi/thread_data.h"

namespace cd::logger {
namespace {

struct FactsOfEnded : CommCache {};

} // namespace

std::optional<EndedConnection> EndedConnections::find(MPI_Comm comm) {
    std::optional<EndedConnection> meant = Owners::find(comm);
    return meant && meant->freed ? meant : std::nullopt;
}

const CommCache *EndedConnections::facts_of(MPI_Comm comm) {
    if (!may_have(comm)) {
        return nullptr;
    }
    const std::optional<EndedConnection> connection = find(comm);
    return connection ? &(of_this_thread<FactsOfEnded>() = {connection->facts}) : nullptr;
}

std::optional<EndedConnection> EndedConnections::take(MPI_Comm comm) {
    std::optional<EndedConnection> meant = Owners::find(comm);
    if (meant) {
        remove(meant->number);
    }
    return meant;
}

MPI_Comm EndedConnections::find_freed(MPI_Fint in_fortran) {
    const std::optional<EndedConnection> connection = find_number(in_fortran);
    return connection && connection->freed ? connection->handle : MPI_COMM_NULL;
}

} // namespace cd::logger
