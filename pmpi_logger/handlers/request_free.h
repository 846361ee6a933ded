// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/handler.h"
#include "objects/inner_frees.h"
#include "requests/completion.h"
#include "requests/table.h"

namespace cd::logger {

// MPI_Request_free. One that is under way goes on, and nobody waits for it: what it brings is
// recorded when the thread next records something after it has come.
class FreesRequest : public MovesData {
public:
    template <Fn F> static int call(const void *site, MPI_Request *request) {
        if (InnerCalls::are_of_undo() && request != nullptr) {
            *request = MPI_REQUEST_NULL;
            return MPI_SUCCESS;
        }
        return ReentryGuard::mpi() || request == nullptr ? call_mpi<F>(request)
                                                         : run(site, request);
    }

    // Before a call is recorded that may have told the program that they are complete.
    static void look_for_arrivals() {
        if (freed_are_under_way()) [[unlikely]] {
            sweep(false);
        }
    }

    // Requests that the program freed before they were complete: those that are complete by now
    // go. At the end of MPI, sends are waited for and receives are cancelled.
    static void sweep(bool at_end);

private:
    static int run(const void *site, MPI_Request *request);
    static void free_with_log(Request &request);
};

} // namespace cd::logger
