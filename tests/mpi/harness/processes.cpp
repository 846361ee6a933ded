// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "harness/processes.h"

#include <mpi.h>

namespace cd::scenarios {

const char *this_program = "";

int be_a_child() {
    MPI_Comm parent = MPI_COMM_NULL;
    MPI_Comm_get_parent(&parent);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        const int said = 17;
        int heard = 0;
        MPI_Sendrecv(&said, 1, MPI_INT, 0, 51, &heard, 1, MPI_INT, 0, 51, parent,
                     MPI_STATUS_IGNORE);
    }
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
}

} // namespace cd::scenarios
