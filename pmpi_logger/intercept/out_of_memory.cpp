// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "intercept/out_of_memory.h"

#include "intercept/mpi_lifetime.h"
#include "record_all/record_all.h"
#include "replay/complaint.h"

#include "cd/mpi_log.h"

#include <atomic>
#include <cstdio>
#include <mpi.h>

namespace cd::logger {
namespace {

std::atomic<bool> has_lost_track = false;

} // namespace

const char *OutOfMemory::hindrance() {
    return has_lost_track
               ? "there was no memory for what the logger has to know of a request or an "
                 "object of MPI's, as it has said: nothing can be restored in this "
                 "process any more"
               : nullptr;
}

bool OutOfMemory::is_answered_by_log() {
    return !Course::is_made() && (Course::has_read() || cd_log_mode() == CD_LOG_REPLAYING);
}

int OutOfMemory::fail(Fn fn) {
    cd_log_stop();
    std::fprintf(stderr,
                 "pmpi_logger: rank %d: there is no memory to answer %s from the log; the call "
                 "fails: restore the CD, or an ancestor\n",
                 MpiLife::rank(), name_of(fn));
    return raise(MPI_COMM_NULL, MPI_ERR_OTHER);
}

int OutOfMemory::fail_incomplete(Fn fn, bool lasts) {
    const bool is_made = Course::is_made();
    lose(fn, lasts && is_made);
    std::fprintf(stderr,
                 "pmpi_logger: rank %d: there is no memory to bring data to where MPI or the "
                 "program wants them: %s fails%s\n",
                 MpiLife::rank(), name_of(fn),
                 is_made ? "" : ", and has done nothing: it may be called once more");
    return raise(MPI_COMM_NULL, MPI_ERR_OTHER);
}

void OutOfMemory::lose(Fn fn, bool lasts) {
    if (lasts && !RecordAll::records() && !has_lost_track.exchange(true)) {
        std::fprintf(stderr,
                     "pmpi_logger: rank %d: there is no memory for what has to be known of %s "
                     "later: no CD of this process can be restored any more\n",
                     MpiLife::rank(), name_of(fn));
    }
    if (cd_log_mode() != CD_LOG_RECORDING) {
        return;
    }
    cd_log_drop();
    complain_lost(fn);
    if (RecordAll::records()) {
        RecordAll::not_written();
    }
}

void OutOfMemory::left(Fn fn) {
    if (cd_log_mode() != CD_LOG_RECORDING) {
        return;
    }
    cd_log_drop();
    static std::atomic<bool> is_said = false;
    if (!is_said.exchange(true)) {
        std::fprintf(stderr,
                     "pmpi_logger: rank %d: an exception leaves %s, and others perhaps later: the "
                     "log lacks the call, and a CD that has this log cannot be restored until it "
                     "is advanced\n",
                     MpiLife::rank(), name_of(fn));
    }
}

} // namespace cd::logger
