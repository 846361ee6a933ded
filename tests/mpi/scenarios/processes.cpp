// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Jobs that are started and met. Debian's MPICH cannot.

#include "harness/processes.h"
#include "harness/scenario.h"

#include <cstring>

namespace processes {

namespace {

using namespace cd::scenarios;

#ifdef OPEN_MPI

constexpr int tag = 51;

void talk(Run &run, MPI_Comm inter) {
    run.out.choice("communicator", inter);
    int told = -1;
    CALL(MPI_Sendrecv(&run.rank, 1, MPI_INT, 0, tag, &told, 1, MPI_INT, 0, tag, inter,
                      MPI_STATUS_IGNORE));
    run.out.value("told", told);
}

SCENARIO(accept_and_connect, MPI_Comm_accept, MPI_Comm_connect, MPI_Open_port, MPI_Close_port,
         MPI_Comm_disconnect) {
    char port[MPI_MAX_PORT_NAME] = {};
    MPI_Comm inter = MPI_COMM_NULL;
    if (run.rank == 0) {
        CALL(MPI_Open_port(MPI_INFO_NULL, port));
        run.out.choice("port", port);
        CALL(MPI_Send(port, sizeof port, MPI_CHAR, 1, tag, MPI_COMM_WORLD));
        CALL(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
    } else if (run.rank == 1) {
        CALL(MPI_Recv(port, sizeof port, MPI_CHAR, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CALL(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
    }
    if (run.rank < 2) {
        talk(run, inter);
        CALL(MPI_Comm_disconnect(&inter));
        run.out.value("null", inter == MPI_COMM_NULL);
    }
    if (run.rank == 0) {
        CALL(MPI_Close_port(port));
    }
}

#ifdef CD_TEST_MPI_SPAWN
SCENARIO(spawn, MPI_Comm_spawn) {
    if (run.rank != 0) {
        return;
    }
    char *arguments[] = {const_cast<char *>(child_option), nullptr};
    MPI_Comm child = MPI_COMM_NULL;
    int errors[1] = {-1};
    CALL(MPI_Comm_spawn(this_program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child,
                        errors));
    run.out.value("error", errors[0]);
    talk(run, child);
    CALL(MPI_Comm_disconnect(&child));
}
#endif

#endif

} // namespace

} // namespace processes
