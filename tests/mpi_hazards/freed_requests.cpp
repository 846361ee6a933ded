// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Requests that the program frees before they end.
#include "receives.h"

namespace freed_requests {

namespace {

constexpr int length = static_cast<int>(eager);

MPI_Request start_receive(Numbers &data) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(data.data(), length, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
    return request;
}

} // namespace

HAZARD(freeing_a_receive_under_way_is_refused) {
    if (world_rank() == 1) {
        send_on_signal(numbers(5, eager), 1);
        return;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    Numbers data = numbers(9, eager);
    Domain domain;
    domain.keep(data);
    const auto take = [&] {
        MPI_Request request = start_receive(data);
        CHECK(MPI_Request_free(&request) != MPI_SUCCESS);
        signal(1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(data == numbers(5, eager));
    };
    take();
    domain.restore();
    take();
}

} // namespace freed_requests
