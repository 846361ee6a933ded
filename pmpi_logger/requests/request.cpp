// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "requests/request.h"

#include "mpi/differences.h"
#include "mpi/real.h"
#include "mpi/reentry_guard.h"

namespace cd::logger {

void Request::clear() {
    kind = Kind::send;
    persistent = false;
    arrivals.clear();
    departures.clear();
    parts.clear();
    partitions = 1;
    comm = MPI_COMM_NULL;
    peer = 0;
    tag = 0;
    static_cast<Use &>(*this) = {};
    send_copy = {};
    staging.clear();
    parts_delivered.clear();
    parts_ready.clear();
    if (!data.empty()) {
        data = {};
    }
    own_types.clear();
}

bool complete_from_start(MPI_Request request) {
    if (!shares_complete_requests) { // MPICH: the upper two bits of built-in handles are 01
        return static_cast<uint32_t>(word_of(request)) >> 30 == 1U;
    }
    static const MPI_Request shared = [] {
        const ReentryGuard inside;
        MPI_Request sent = MPI_REQUEST_NULL;
        real<Fn::MPI_Isend>(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &sent);
        const MPI_Request handle = sent;
        real<Fn::MPI_Wait>(&sent, MPI_STATUS_IGNORE);
        return handle;
    }();
    return request == shared;
}

} // namespace cd::logger
