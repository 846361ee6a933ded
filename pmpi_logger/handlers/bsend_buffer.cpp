// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/bsend_buffer.h"

#include "objects/deferred_free.h"
#include "record_all/record_all.h"

#include <cstdlib>
#include <limits>
#include <utility>

namespace cd::logger {
namespace {

// The buffer of the process. MPI forbids to change it in two threads at once.
struct Attached {
    void *programs = nullptr;
    int64_t size = 0;
    void *ours = nullptr;
};
Attached attached;

// Attaches another buffer, and returns the one before. Must be called after the call's entry was
// written or read: a restore to before it takes the change back.
Attached attach(const Attached &now) {
    const std::optional<cd_log_place> place = last_entry();
    if (place && !RecordAll::records()) {
        when_restored(*place, [before = attached] {
            attached.programs = before.programs;
            attached.size = before.size;
        });
    }
    return std::exchange(attached, now);
}

int keep_result(int recorded) { return recorded; }

} // namespace

int BufferAttach::run(const Call &call, void *buffer, int64_t size) {
    const int mode = Logging::mode();
    const ReentryGuard inside;
    void *ours = attached.ours;
    const auto make = [&] {
        ours = size >= 0 && size <= std::numeric_limits<int>::max()
                   ? std::malloc(static_cast<size_t>(size) + 1)
                   : nullptr;
        const int made = call_mpi<Fn::MPI_Buffer_attach>(ours, static_cast<int>(size));
        if (made != MPI_SUCCESS) {
            std::free(ours);
        }
        return made;
    };
    const int result = record_result(call, mode, make, keep_result);
    if (result == MPI_SUCCESS) {
        attach({buffer, size, ours});
    }
    return result;
}

int BufferDetach::run(const Call &call, void **buffer, int64_t *size) {
    const int mode = Logging::mode();
    const ReentryGuard inside;
    const auto make = [] {
        void *ours = nullptr;
        int bytes = 0;
        const int made = call_mpi<Fn::MPI_Buffer_detach>(&ours, &bytes);
        if (made == MPI_SUCCESS) {
            std::free(ours);
        }
        return made;
    };
    const int result = record_result(call, mode, make, keep_result);
    if (result == MPI_SUCCESS) {
        const Attached before = attach({});
        *buffer = before.programs;
        *size = before.size;
    }
    return result;
}

} // namespace cd::logger
