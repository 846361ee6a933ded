// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Acts when CDs begin, are restored and end.

#include "call/closed_handles.h"
#include "handlers/init_finalize.h"
#include "mpi/mpi_lifetime.h"
#include "mpi/record_failure.h"
#include "mpi/reentry_guard.h"
#include "objects/deferred_free.h"
#include "payload/ended_connections.h"
#include "replay/poll_counts.h"
#include "replay/quiesce.h"
#include "rma/window_policy.h"
#include "rma/window_table.h"

#include "cd/mpi_log.h"

namespace cd::logger {
namespace {

void boundary() {
    end_poll_count();
    Interval::begin();
}

const char *restoring(cd_handle cd) {
    if (Finalize::is_to_be_repeated(cd)) {
        return "MPI has ended since, and cannot begin again: restore before MPI_Finalize, or "
               "before the last session ends";
    }
    if (!MpiLifetime::is_up()) {
        return nullptr;
    }
    if (const char *const hindrance = RecordFailure::hindrance()) {
        return hindrance;
    }
    const char *const hindrance = WindowTable::instance().hindrance(cd);
    return hindrance != nullptr ? hindrance : quiesce(cd);
}

void restored(cd_handle cd, int success) {
    success != 0 ? forget_polls() : end_poll_count();
    Interval::begin();
    if (!MpiLifetime::is_up()) {
        return;
    }
    resume(cd, success != 0);
    if (success != 0) {
        run_restored(cd);
        EndedConnections::restored(cd);
        LoggedFiles::restored(cd);
        FreedWindows::restored(cd);
        WindowTable::instance().restored(cd);
    }
}

void forgotten(uint64_t family, cd_handle root) {
    if (MpiLifetime::is_up()) {
        run_forgotten(family, root);
    }
}

void deleting(cd_handle cd) {
    if (MpiLifetime::is_up()) {
        fail_requests_of_deleted_log(cd);
    }
}

const cd_log_listener listener = {boundary, restoring, restored, forgotten, deleting};

[[gnu::constructor]] void listen() { cd_log_listen(&listener); }

} // namespace
} // namespace cd::logger
