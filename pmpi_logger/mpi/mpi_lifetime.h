// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

namespace cd::logger {

// Whether MPI can be called, and which rank this process has. Programs of MPI 4 may use sessions
// instead of MPI_COMM_WORLD.
class MpiLifetime {
public:
    static bool is_up();
    static bool has_world(); // between MPI_Init and MPI_Finalize

    // Returns the rank in MPI_COMM_WORLD, or in the group of all processes of a session.
    static int rank();

    // Note that MPI_Init or a session has begun.
    static void world_begins();
    static void session_begins(int its_rank);
    static void session_ends();
    // Returns whether MPI ends with the session that is about to end.
    static bool is_last_session();
};

} // namespace cd::logger
