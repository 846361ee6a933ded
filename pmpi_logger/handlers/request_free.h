// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/handler.h"

namespace cd::logger {

// MPI_Request_free. A send under way continues, and a persistent request lives on until no log
// needs it. A CD that logs refuses to free any other request that is under way: no call of the
// program would say when its data have come.
class RequestFree : public MovesData {
public:
    template <Fn F> static int call(const void *site, MPI_Request *request) {
        return ReentryGuard::mpi() || request == nullptr ? call_mpi<F>(request)
                                                         : run(site, request);
    }

    // Forgets the thread's freed sends that are complete by now. At the end of MPI, waits for those
    // of all threads.
    static void sweep(bool at_end);

private:
    static int run(const void *site, MPI_Request *request);
};

} // namespace cd::logger
