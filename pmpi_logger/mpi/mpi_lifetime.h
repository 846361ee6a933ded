// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

namespace cd::logger {

// When there is an MPI to call, and who this process is in it. A program of MPI 4 need not have
// MPI_COMM_WORLD: it may have nothing but sessions, one after the other.
class MpiLife {
public:
    static bool is_up();
    static bool has_world(); // between MPI_Init and MPI_Finalize

    // In MPI_COMM_WORLD, or in what would be it.
    static int rank();
    static int size();

    // MPI_Init, or a session, has begun.
    static void world_begins();
    static void session_begins(int its_rank, int its_size);
    static void session_ends();
    // Whether MPI ends with the session that is about to end.
    static bool is_last_session();
};

} // namespace cd::logger
