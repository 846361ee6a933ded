// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/blocking.h"

#include <algorithm>
#include <mpi.h>
#include <numeric>
#include <tuple>

namespace cd::logger {

// Notes a communicator to another job that the call of the thread's last entry has made.
void connection_made(MPI_Comm comm);

// Returns MPI's own Fortran number for the handle.
inline MPI_Fint number_in_mpi(MPI_Comm comm) {
#ifdef CD_HAS_MPI_Comm_c2f
    return real<Fn::MPI_Comm_c2f>(comm);
#else
    return MPI_Comm_c2f(comm); // a macro
#endif
}

// Records MPI_Comm_accept and its like. A replay of MPI_Comm_spawn_multiple says that all processes
// were started.
class JobConnect {
public:
    using Of = Arrivals;

    template <Fn F, typename... A> static int call(const void *site, A... a) {
        const int mode = Logging::mode();
        const int result = Blocking::log<F>(site, a...);
        if (!passes_through(mode) && result == MPI_SUCCESS) {
            constexpr size_t made = Row<F>::Roles::index(Role::out);
            connection_made(*std::get<made>(std::tuple<A...>(a...)));
            if constexpr (F == Fn::MPI_Comm_spawn_multiple) {
                if (mode == CD_LOG_REPLAYING) {
                    all_started(a...);
                }
            }
        }
        return result;
    }

private:
    // Writes the error codes of the processes that all commands start; the root alone has them.
    static void all_started(int count, char **, char ***, const int *processes, const MPI_Info *,
                            int root, MPI_Comm comm, MPI_Comm *, int *errors) {
        if (comm_facts_of(comm).rank == root && errors != MPI_ERRCODES_IGNORE) {
            std::fill_n(errors, std::accumulate(processes, processes + count, 0), MPI_SUCCESS);
        }
    }
};

} // namespace cd::logger
