// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Communicators that come with a request, of which a domain sees one end only.
#include "hazard.h"

namespace duplicates {

namespace {

MPI_Request duplicate(MPI_Comm *made) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_idup(MPI_COMM_WORLD, made, &request);
    return request;
}

void use(MPI_Comm comm, int seed) {
    const int sent = seed + world_rank();
    int sum = 0;
    MPI_Allreduce(&sent, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == 2 * seed + 1);
}

void wait_for_answer(MPI_Request request) {
    int complete = 0;
    while (complete == 0) {
        MPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE);
    }
}

} // namespace

HAZARD(duplicate_from_before_the_cd_completed_inside) {
    MPI_Comm comm = MPI_COMM_NULL;
    const MPI_Request begun = duplicate(&comm);
    const auto complete = [&](bool frees) {
        MPI_Request request = begun;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        use(comm, 10);
        MPI_Comm freed = comm;
        if (frees) {
            MPI_Comm_free(&freed);
        }
    };
    {
        Domain domain;
        complete(true);
        for (int i = 0; i < 2; ++i) {
            domain.restore();
            comm = MPI_COMM_NULL;
            complete(true);
        }
        domain.restore();
        comm = MPI_COMM_NULL;
        complete(false);
    }
    use(comm, 20);
    MPI_Comm_free(&comm);
}

HAZARD(duplicate_completed_behind_the_cd) {
    for (const bool is_restored : {false, true}) {
        MPI_Comm comms[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
        MPI_Request request = MPI_REQUEST_NULL;
        {
            Domain domain;
            request = duplicate(&comms[0]);
            if (is_restored) {
                domain.restore();
                comms[0] = MPI_COMM_NULL;
                request = duplicate(&comms[1]);
            }
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm &comm = comms[is_restored ? 1 : 0];
        CHECK(comms[is_restored ? 0 : 1] == MPI_COMM_NULL);
        use(comm, 10);
        MPI_Comm_free(&comm);
    }
}

HAZARD(duplicate_from_before_the_cd_is_used_before_its_request_is_completed) {
    MPI_Comm comm = MPI_COMM_NULL;
    const MPI_Request begun = duplicate(&comm);
    Domain domain;
    for (int i = 0; i < 3; ++i) {
        MPI_Request request = begun;
        wait_for_answer(request);
        use(comm, 10);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        use(comm, 20);
        MPI_Comm_free(&comm);
        if (i < 2) {
            domain.restore();
        }
    }
}

} // namespace duplicates
