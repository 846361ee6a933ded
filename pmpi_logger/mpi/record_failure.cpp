// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "mpi/record_failure.h"

#include "mpi/mpi_lifetime.h"
#include "mpi/reentry_guard.h"

#include "cd/mpi_log.h"

#include <atomic>
#include <bit>
#include <cinttypes>
#include <cstdio>

namespace cd::logger {
namespace {

std::atomic<bool> has_failed = false;
std::atomic<bool (*)()> count_missing = nullptr;

} // namespace

const char *RecordFailure::hindrance() {
    return has_failed
               ? "memory ran out in a call of MPI, so no CD of this process can be restored: "
                 "restart the program"
               : nullptr;
}

void RecordFailure::count_missing_by(bool (*count)()) { count_missing = count; }

int RecordFailure::fail(Fn fn) {
    const ReentryGuard inside;
    lose(fn);
    if (cd_log_mode() == CD_LOG_REPLAYING) {
        cd_log_stop();
    }
    has_failed = true;
    std::fprintf(stderr, "pmpi_logger: rank %d: %s fails: %s\n", MpiLifetime::rank(), name_of(fn),
                 hindrance());
    if (MpiLifetime::has_world()) {
        real<Fn::MPI_Comm_call_errhandler>(MPI_COMM_WORLD, MPI_ERR_OTHER);
    }
    return MPI_ERR_OTHER;
}

void RecordFailure::lose(Fn fn) {
    if (cd_log_mode() == CD_LOG_RECORDING) {
        cd_log_drop();
        report(fn);
    }
}

// Not each time: a log that has no room lacks all that follows.
void RecordFailure::report(Fn fn) {
    bool (*const count)() = count_missing;
    const bool is_counted = count != nullptr && count();
    static std::atomic<uint64_t> calls = 0;
    const uint64_t number = ++calls;
    if (!std::has_single_bit(number)) {
        return;
    }
    char trouble[1024];
    const bool of_file = cd_log_trouble(trouble, sizeof trouble) != 0;
    std::fprintf(
        stderr, "pmpi_logger: rank %d: %s cannot be recorded: %s; %s (calls so far: %" PRIu64 ")\n",
        MpiLifetime::rank(), name_of(fn), of_file ? trouble : "there is no memory",
        is_counted ? "the log lacks it" : "the active CD cannot be restored: advance it", number);
}

} // namespace cd::logger
