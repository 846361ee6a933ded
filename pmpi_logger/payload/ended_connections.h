// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/closed_handles.h"
#include "payload/comm_cache.h"

#include <mpi.h>
#include <optional>

namespace cd::logger {

// A communicator that leads to another job, and that MPI no longer knows when a replay uses it.
struct EndedConnection : HandleOwner {
    MPI_Comm handle = MPI_COMM_NULL;
    CommFacts facts;
};

// Connections that a log has made or ended. Ranks and sizes are all that is known of ended ones.
class EndedConnections : public HandleOwners<EndedConnection> {
public:
    static bool has(MPI_Comm comm) { return may_have(comm) && find_freed(comm).has_value(); }
    // Returns nullptr if it is none. Valid until the thread asks for another communicator.
    static const CommFacts *facts_of(MPI_Comm comm);

    // Removes a connection that the program is about to end, before MPI can reuse the handle.
    static std::optional<EndedConnection> take(MPI_Comm comm);
};

} // namespace cd::logger
