// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/blocking.h"

#include <mpi.h>
#include <tuple>

namespace cd::logger {

// Notes a communicator to another job that the call of the thread's last entry has made.
void connection_made(MPI_Comm comm);

// Returns MPI's own Fortran number for the handle.
inline MPI_Fint number_in_mpi(MPI_Comm comm) {
#ifdef OPEN_MPI
    return real<Fn::MPI_Comm_c2f>(comm);
#else
    return MPI_Comm_c2f(comm); // a macro
#endif
}

// Records MPI_Comm_accept and its like.
class JobConnect {
public:
    using Of = Arrivals;

    template <Fn F, typename... A> static int call(const void *site, A... a) {
        const bool logs = !passes_through(Logging::mode());
        const int result = Blocking::log<F>(site, a...);
        if (logs && result == MPI_SUCCESS) {
            constexpr size_t made = Row<F>::Roles::index(Role::out);
            connection_made(*std::get<made>(std::tuple<A...>(a...)));
        }
        return result;
    }
};

} // namespace cd::logger
