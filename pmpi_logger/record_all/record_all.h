// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/mpi_log.h"

#include <cstddef>
#include <cstdint>

namespace cd::logger {

struct Recording;

// CD_LOG=all: each thread that calls MPI has a CD around everything from MPI_Init to MPI_Finalize,
// so that the MPI calls of a program that nobody touched are recorded. Nobody can restore those
// CDs, so objects are freed when the program frees them, nothing is copied for later, and no call
// is refused.
class RecordAll {
public:
    // Whether what this thread records goes to its CD.
    static bool records() { return own_ != nullptr && is_active(); }

    // Whether what stands at place was recorded there, by whatever thread.
    static bool holds(const cd_log_place &place);

    static void begin(); // MPI is up
    // This thread calls MPI. False if it should say so at its next call, too: it may have to be
    // recorded from then on.
    static bool begin_thread();
    static void end();   // MPI is about to end
    static void flush(); // the process may end now
    // The same where nobody may be waited for: a signal handler may have interrupted a writer.
    static void flush_if_possible();

    // An entry has been written into the CD's log, which keeps the newest ones within CD_LOG_LIMIT
    // bytes. Puts it into the file of CD_LOG_FILE.
    static void written(const void *entry, size_t length);
    // Of the entry that was written last the header is another one now. False if the file has it as
    // it was.
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
