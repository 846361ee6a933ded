// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "payload/ended_connections.h"

#include "mpi/thread_data.h"

namespace cd::logger {
namespace {

struct FactsOfEnded : CommFacts {};

} // namespace

const CommFacts *EndedConnections::facts_of(MPI_Comm comm) {
    if (!may_have(comm)) {
        return nullptr;
    }
    const std::optional<EndedConnection> connection = find_freed(comm);
    return connection ? &(of_this_thread<FactsOfEnded>() = {connection->facts}) : nullptr;
}

std::optional<EndedConnection> EndedConnections::take(MPI_Comm comm) {
    std::optional<EndedConnection> meant = find(comm);
    if (meant) {
        remove(meant->number);
    }
    return meant;
}

} // namespace cd::logger
