// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/bsend_buffer.h"

#include "log_entry/writer.h"
#include "objects/deferred_free.h"
#include "record_all/record_all.h"
#include "replay/match.h"

#include <cstdlib>
#include <limits>

namespace cd::logger {
namespace {

// The buffer of the process. MPI forbids to change it in two threads at once.
struct Attached {
    void *programs = nullptr;
    int64_t size = 0;
    void *ours = nullptr;
};
Attached attached;

// To be called after the call's entry was written or read.
void undo_here() {
    const std::optional<cd_log_place> place = last_entry();
    if (place && !RecordAll::records()) {
        when_restored(*place, [before = attached] {
            attached.programs = before.programs;
            attached.size = before.size;
        });
    }
}

} // namespace

int BufferAttach::run(const Call &call, void *buffer, int64_t size) {
    const int mode = Logging::mode();
    const ReentryGuard inside;
    int result = MPI_SUCCESS;
    void *ours = attached.ours;
    if (mode != CD_LOG_REPLAYING || (!next_entry(call, result) && result == run_live)) {
        ours = size >= 0 && size <= std::numeric_limits<int>::max()
                   ? std::malloc(static_cast<size_t>(size) + 1)
                   : nullptr;
        result = call_mpi<Fn::MPI_Buffer_attach>(ours, static_cast<int>(size));
        if (mode != CD_LOG_OFF) {
            EntryWriter(call, result).write();
        }
        if (result != MPI_SUCCESS) {
            std::free(ours);
        }
    }
    if (result == MPI_SUCCESS) {
        undo_here();
        attached = {buffer, size, ours};
    }
    return result;
}

int BufferDetach::run(const Call &call, void **buffer, int64_t *size) {
    const int mode = Logging::mode();
    const ReentryGuard inside;
    int result = MPI_SUCCESS;
    if (mode != CD_LOG_REPLAYING || (!next_entry(call, result) && result == run_live)) {
        void *ours = nullptr;
        int bytes = 0;
        result = call_mpi<Fn::MPI_Buffer_detach>(&ours, &bytes);
        if (mode != CD_LOG_OFF) {
            EntryWriter(call, result).write();
        }
        if (result == MPI_SUCCESS) {
            std::free(ours);
        }
    }
    if (result == MPI_SUCCESS) {
        undo_here();
        *buffer = attached.programs;
        *size = attached.size;
        attached = {};
    }
    return result;
}

} // namespace cd::logger
