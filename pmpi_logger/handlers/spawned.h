// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/blocking.h"

#include <mpi.h>
#include <tuple>

namespace cd::logger {

// Communicators that MPI knows until their log is forgotten, and which may have got the handle of a
// freed one that another thread still means: who has made them means them.

// The call whose entry the thread has written or read last has made it, in this execution or the
// first one.
void comm_made(MPI_Comm comm);

// The same of one that may lead to another job, which is noted in any case: it may end before.
void connection_made(MPI_Comm comm);

// What MPI's Fortran calls it, whatever the thread means by the handle.
inline MPI_Fint number_in_mpi(MPI_Comm comm) {
#ifdef OPEN_MPI
    return real<Fn::MPI_Comm_c2f>(comm);
#else
    return MPI_Comm_c2f(comm); // a macro
#endif
}

// MPI_Comm_accept and its like.
class ConnectsJobs {
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
