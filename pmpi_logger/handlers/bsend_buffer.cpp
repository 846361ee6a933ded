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

void undo_here(bool just_read) {
    cd_log_place place = {};
    if (cd_log_here(&place) != 0 && !RecordAll::records()) {
        place.entry -= just_read ? 1 : 0;
        const Attached before = attached;
        when_restored(place, [before] {
            attached.programs = before.programs;
            attached.size = before.size;
        });
    }
}

} // namespace

int BufferAttach::run(const Call &call, void *buffer, int64_t size) {
    const int mode = Logging::mode();
    const ReentryGuard inside;
    if (mode == CD_LOG_REPLAYING) {
        int result = MPI_SUCCESS;
        if (!next_entry(call, result)) {
            return result == run_live ? run(call, buffer, size) : result;
        }
        undo_here(true);
        attached.programs = buffer;
        attached.size = size;
        return MPI_SUCCESS;
    }
    void *ours = size >= 0 && size <= std::numeric_limits<int>::max()
                     ? std::malloc(static_cast<size_t>(size) + 1)
                     : nullptr;
    const int result = call_mpi<Fn::MPI_Buffer_attach>(ours, static_cast<int>(size));
    if (result != MPI_SUCCESS) {
        std::free(ours);
    } else {
        undo_here(false);
        attached = {buffer, size, ours};
    }
    if (mode == CD_LOG_RECORDING) {
        EntryWriter(call, result).write();
    }
    return result;
}

int BufferDetach::run(const Call &call, void **buffer, int64_t *size) {
    const int mode = Logging::mode();
    const ReentryGuard inside;
    int result = MPI_SUCCESS;
    if (mode == CD_LOG_REPLAYING) {
        if (!next_entry(call, result)) {
            return result == run_live ? run(call, buffer, size) : result;
        }
        undo_here(true);
    } else {
        void *ours = nullptr;
        int bytes = 0;
        result = call_mpi<Fn::MPI_Buffer_detach>(&ours, &bytes);
        if (mode == CD_LOG_RECORDING) {
            undo_here(false);
            EntryWriter(call, result).write();
        }
        if (result == MPI_SUCCESS) {
            std::free(attached.ours);
            attached.ours = nullptr;
        }
    }
    *buffer = attached.programs;
    *size = attached.size;
    attached.programs = nullptr;
    attached.size = 0;
    return result;
}

} // namespace cd::logger
