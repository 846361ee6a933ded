// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/mpi_log.h"

#include <cstddef>

namespace cd::logger {

// CD_LOG=all: the process has a CD around everything from MPI_Init to MPI_Finalize, so that the MPI
// calls of a program that nobody touched are recorded. Nobody can restore that CD, so objects are
// freed when the program frees them, nothing is copied for later, and no call is refused.
class WholeProgram {
public:
    // Whether what this thread records goes to that CD.
    static bool records() { return recording_ && is_active(); }

    // Whether what stands at place was recorded there, by whatever thread.
    static bool holds(const cd_log_place &place);

    static void begin(); // MPI is up
    static void end();   // MPI is about to end

    // An entry has been written into the CD's log. Keeps the log within CD_LOG_LIMIT bytes by
    // dropping what it holds, and puts the entry into the file of CD_LOG_FILE.
    static void written(const void *entry, size_t length);

private:
    static bool is_active();
    [[gnu::tls_model("initial-exec")]] static inline constinit thread_local bool recording_ = false;
};

} // namespace cd::logger
