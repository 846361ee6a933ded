// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Connections that end at once when the program disconnects them.
#include "hazard.h"

namespace connections {

namespace {

int exchanged(MPI_Comm comm, int mine) {
    int others = 0;
    MPI_Sendrecv(&mine, 1, MPI_INT, 0, 0, &others, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
    return others;
}

} // namespace

// The re-execution is given it again, though MPI has ended it.
HAZARD(connection_that_a_domain_makes_and_ends) {
    MPI_Comm comm = MPI_COMM_NULL;
    const auto talk = [&] {
        MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - world_rank(), 1, &comm);
        int size = 0;
        CHECK(MPI_Comm_remote_size(comm, &size) == MPI_SUCCESS && size == 1);
        CHECK(exchanged(comm, world_rank()) == 1 - world_rank());
        CHECK(MPI_Comm_disconnect(&comm) == MPI_SUCCESS);
        CHECK(comm == MPI_COMM_NULL);
    };
    if (world_rank() == 1) {
        talk();
        return;
    }
    Domain domain;
    talk();
    for (int i = 0; i < 2; ++i) {
        domain.restore();
        talk();
    }
}

} // namespace connections
