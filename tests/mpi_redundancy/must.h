// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/cd.h"

#include <mpi.h>

#include <cstdio>

inline int rank = 0; // of this process, once MPI has told

inline void must(bool good, const char *what) {
    if (!good) {
        std::printf("rank %d: %s; last error: code %d: %s\n", rank, what, cd_last_error(),
                    cd_last_error_message());
        std::fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}
