// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "receives.h"

MPI_Request post_receive(Numbers &buffer, int from, int tag) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(buffer.data(), static_cast<int>(buffer.size()), MPI_INT, from, tag, MPI_COMM_WORLD,
              &request);
    return request;
}

bool tells(const MPI_Status &status, int source, int tag, size_t count) {
    int received = 0;
    MPI_Get_count(&status, MPI_INT, &received);
    return status.MPI_SOURCE == source && status.MPI_TAG == tag &&
           received == static_cast<int>(count);
}

bool was_cancelled(const MPI_Status &status) {
    int cancelled = 0;
    MPI_Test_cancelled(&status, &cancelled);
    return cancelled != 0;
}
