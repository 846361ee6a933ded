// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "payload/own_comm.h"

#include "interception/inside.h"
#include "interception/real.h"

#include <mutex>

namespace cd::logger {
namespace {

std::mutex making;
MPI_Comm own = MPI_COMM_NULL;

} // namespace

MPI_Comm own_comm() {
    const std::scoped_lock lock(making);
    if (own == MPI_COMM_NULL) {
        const Inside inside;
        // A duplicate would take the program's attributes, and call its functions to copy them.
        real<Fn::MPI_Comm_split>(MPI_COMM_SELF, 0, 0, &own);
        real<Fn::MPI_Comm_set_errhandler>(own, MPI_ERRORS_RETURN);
    }
    return own;
}

void free_own_comm() {
    const std::scoped_lock lock(making);
    if (own != MPI_COMM_NULL && own != MPI_COMM_SELF) {
        real<Fn::MPI_Comm_free>(&own);
    }
    own = MPI_COMM_SELF;
}

} // namespace cd::logger
