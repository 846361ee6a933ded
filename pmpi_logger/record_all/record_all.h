// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/mpi_log.h"

#include <cstddef>
#include <cstdint>

namespace cd::logger {

struct Recording;

// CD_LOG=all: each thread that calls MPI gets a CD from MPI_Init to MPI_Finalize, so that the calls
// of an unchanged program are recorded. Nobody restores these CDs: objects are freed at once,
// nothing is copied for later, and no call is refused.
class RecordAll {
public:
    // Returns whether this thread records into such a CD now.
    static bool records() { return own_ != nullptr && is_active(); }

    // Returns whether the entry at `place` was recorded so, by any thread.
    static bool holds(const cd_log_place &place);

    static void begin(); // MPI is up
    // Called at this thread's first MPI call. Returns false if it should be called again at the
    // next one.
    static bool begin_thread();
    static void end(); // MPI is about to end
    // Writes what is recorded to the files, as the process may end now. A signal handler does not
    // wait for locks: it may have interrupted a writer.
    static void flush(bool waits);

    // Puts an entry that was written into the log of CD_LOG=all into the file of CD_LOG_FILE.
    static void written(const void *entry, size_t length);
    // Changes the header of the last entry in the file. Returns false if it was written out
    // already.
    static bool changed(const void *header, size_t size);

private:
    struct EndOfThread;

    static bool is_active();
    static bool begin_here();
    static void end_here();
    [[gnu::tls_model("initial-exec")]] static inline constinit thread_local Recording *own_ =
        nullptr;
};

} // namespace cd::logger
