// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/owners.h"
#include "payload/comm_cache.h"

#include <mpi.h>
#include <optional>

namespace cd::logger {

// A communicator that leads to another job, and that MPI no longer knows when a replay uses it.
struct EndedConnection : Owner {
    MPI_Comm handle = MPI_COMM_NULL;
    CommCache facts;
    bool is_other = false; // it is none, and has got the handle of one
};

// Ranks and sizes are all that is known of these.
class EndedConnections : public Owners<EndedConnection> {
public:
    // Which of them the thread means.
    static std::optional<EndedConnection> find(MPI_Comm comm);
    static bool has(MPI_Comm comm) { return may_have(comm) && find(comm).has_value(); }
    // Valid until the thread asks for another communicator. nullptr if it is none.
    static const CommCache *facts_of(MPI_Comm comm);

    // The program is about to free it, if it is one, or one that has got the handle of one: before
    // MPI can give it to another thread.
    static std::optional<EndedConnection> take(MPI_Comm comm);

    static bool is_freed(MPI_Comm comm);
    // The freed one that had this handle in Fortran. MPI_COMM_NULL if there is none.
    static MPI_Comm find_freed(MPI_Fint in_fortran);
};

} // namespace cd::logger
