// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "mpi/own_mpi.h"

#include <span>

namespace cd::mpi {

// Lets others have the processor meanwhile, and sleeps when it takes long: MPI's own waiting may
// keep it from those who are waited for, or from the program. what: names the operation in
// messages.
Status wait_for(std::span<MPI_Request> requests, const char *what);

// Begins what all ranks do together, and waits for it.
template <typename Begin> Status together(const Begin &begin, const char *what) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (Status status = outcome(begin(request), what); !status) {
        return status;
    }
    return wait_for({&request, 1}, what);
}

} // namespace cd::mpi
