// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "rma/early_reads.h"

#include "mpi/real.h"
#include "mpi/reentry_guard.h"
#include "record_all/record_all.h"
#include "requests/complete_from_start.h"
#include "requests/completion.h"
#include "requests/replayed_request.h"
#include "rma/window_table.h"

namespace cd::logger {

bool give_own_request([[maybe_unused]] MPI_Request *request) {
#ifdef MPICH_VERSION
    if (*request == MPI_REQUEST_NULL || !complete_from_start(*request) || RecordAll::records()) {
        return false;
    }
    const ReentryGuard inside;
    MPI_Status status = {};
    const int result = real<Fn::MPI_Wait>(request, &status);
    *request = completed_request(status, result);
    return true;
#else
    return false;
#endif
}

void await_data_of_own(const Request &request) {
    if (!brings_data(request)) { // a synchronization has brought them
        return;
    }
    const Window *const window = WindowTable::instance().find(request.window);
    if (window != nullptr && window->is_locked(request.target)) {
        real<Fn::MPI_Win_flush_local>(request.target, request.window);
    }
}

} // namespace cd::logger
