// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// MPI_Finalize by both of its names, since the logger takes over the one and calls the other. With
// MPICH 4.0 threads that are in MPI when it begins do not give back the lock that they have, and
// the program ends with that; so it begins when none is.

#include "mpi/finalizing.h"

#include <dlfcn.h>
#include <mpi.h>

namespace {

int finalize(const char *name) {
    cd::mpi::get_ready_to_end();
    const auto next = reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, name));
    return next();
}

} // namespace

extern "C" {

__attribute__((visibility("default"))) int MPI_Finalize() { return finalize("MPI_Finalize"); }
__attribute__((visibility("default"))) int PMPI_Finalize() { return finalize("PMPI_Finalize"); }
}
