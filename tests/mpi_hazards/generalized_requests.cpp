// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Generalized requests that the program frees.
#include "complaints.h"
#include "hazard.h"

namespace generalized_requests {

HAZARD(freeing_a_generalized_request_is_refused) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    Domain domain;
    const auto execute = [] {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Grequest_start([](void *, MPI_Status *) { return MPI_SUCCESS; },
                           [](void *) { return MPI_SUCCESS; },
                           [](void *, int) { return MPI_SUCCESS; }, nullptr, &request);
        {
            const Complaints complaints;
            CHECK(MPI_Request_free(&request) != MPI_SUCCESS);
        }
        MPI_Grequest_complete(request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    };
    execute();
    domain.restore();
    execute();
    CHECK(domain.info().replaying == 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

} // namespace generalized_requests
