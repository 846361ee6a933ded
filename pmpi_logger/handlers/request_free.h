// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/handler.h"
#include "objects/inner_frees.h"
#include "requests/delivery.h"
#include "requests/request_table.h"

namespace cd::logger {

// MPI_Request_free. A send under way goes on. A CD that logs refuses to free a request that has yet
// to bring data: no call of the program would say when they have come.
class RequestFree : public MovesData {
public:
    template <Fn F> static int call(const void *site, MPI_Request *request) {
        if (InnerCalls::are_of_undo() && request != nullptr) {
            *request = MPI_REQUEST_NULL;
            return MPI_SUCCESS;
        }
        return ReentryGuard::mpi() || request == nullptr ? call_mpi<F>(request)
                                                         : run(site, request);
    }

    // Forgets the thread's freed requests that are complete by now. At the end of MPI, waits for
    // those of all threads and cancels receives.
    static void sweep(bool at_end);

private:
    static int run(const void *site, MPI_Request *request);
    static void free_with_log(Request &request);
};

} // namespace cd::logger
