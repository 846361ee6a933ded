// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "payload/private_comm.h"

#include "mpi/mpi_lifetime.h"
#include "mpi/real.h"
#include "mpi/reentry_guard.h"

#include <mutex>

namespace cd::logger {
namespace {

std::mutex making;
MPI_Comm private_comm = MPI_COMM_NULL;
#ifdef CD_HAS_MPI_Session_init
MPI_Session session = MPI_SESSION_NULL; // of ours, if the program has no world
#endif

// Splits: a duplicate would copy the program's attributes and call its functions.
void make() {
    const ReentryGuard inside;
    if (MpiLifetime::has_world()) {
        real<Fn::MPI_Comm_split>(MPI_COMM_SELF, 0, 0, &private_comm);
        real<Fn::MPI_Comm_set_errhandler>(private_comm, MPI_ERRORS_RETURN);
        return;
    }
#ifdef CD_HAS_MPI_Session_init
    MPI_Group self = MPI_GROUP_NULL;
    real<Fn::MPI_Session_init>(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    real<Fn::MPI_Group_from_session_pset>(session, "mpi://SELF", &self);
    real<Fn::MPI_Comm_create_from_group>(self, "cd", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                         &private_comm);
    real<Fn::MPI_Group_free>(&self);
#endif
}

} // namespace

MPI_Comm own_comm() {
    const std::scoped_lock lock(making);
    if (private_comm == MPI_COMM_NULL) {
        make();
    }
    return private_comm;
}

MPI_Comm self_comm() { return MpiLifetime::has_world() ? MPI_COMM_SELF : own_comm(); }

void free_own_comm() {
    const std::scoped_lock lock(making);
    if (private_comm != MPI_COMM_NULL && private_comm != MPI_COMM_SELF) {
        real<Fn::MPI_Comm_free>(&private_comm);
    }
    private_comm = MpiLifetime::has_world() ? MPI_COMM_SELF : MPI_COMM_NULL;
#ifdef CD_HAS_MPI_Session_init
    if (session != MPI_SESSION_NULL) {
        real<Fn::MPI_Session_finalize>(&session);
    }
#endif
}

} // namespace cd::logger
