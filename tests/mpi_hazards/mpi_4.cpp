// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What came with MPI 4: exchanges that go on after the call, and persistent collectives.
#include "complaints.h"
#include "hazard.h"

#include <cstdlib>

namespace mpi_4 {

namespace {

MPI_Request start_exchange(const Numbers &mine, Numbers &theirs, int with) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int count = static_cast<int>(mine.size());
    MPI_Isendrecv(mine.data(), count, MPI_INT, with, 1, theirs.data(), count, MPI_INT, with, 1,
                  MPI_COMM_WORLD, &request);
    return request;
}

void exchange(int with, int seed) {
    const Numbers mine = numbers(seed, rendezvous);
    Numbers theirs(rendezvous);
    MPI_Request request = start_exchange(mine, theirs, with);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(theirs == numbers(2, rendezvous));
}

} // namespace

// It is not by what is sent that they differ.
HAZARD(buffers_of_a_collective_that_have_moved_are_not_taken_for_other_data) {
    setenv("CD_SEND_SHADOW", "off", 1); // so that they matter
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    const Numbers in = numbers(1, eager);
    Numbers out(eager);
    Numbers moved(eager);
    MPI_Request request = MPI_REQUEST_NULL;
    const auto make = [&](Numbers &to) {
        return MPI_Allreduce_init(in.data(), to.data(), eager, MPI_INT, MPI_SUM, MPI_COMM_SELF,
                                  MPI_INFO_NULL, &request);
    };
    Domain domain;
    make(out);
    domain.restore();
    {
        Complaints complaints;
        CHECK(make(moved) != MPI_SUCCESS);
        CHECK(complaints.name("where the buffers of a persistent request are"));
        CHECK(!complaints.name("CD_SENT_DATA"));
    }
    domain.restore();
    CHECK(make(out) == MPI_SUCCESS);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    CHECK(out == in);
}

HAZARD(exchange_pending) {
    if (world_rank() == 1) {
        await(0);
        exchange(0, 5);
        return;
    }
    Numbers mine = numbers(2, rendezvous);
    Numbers theirs = numbers(9, rendezvous);
    Domain domain;
    domain.keep(mine);
    domain.keep(theirs);
    start_exchange(mine, theirs, 1);
    for (int i = 0; i < 2; ++i) {
        destroy(mine);
        destroy(theirs);
        domain.restore();
        CHECK(theirs == numbers(9, rendezvous));
        start_exchange(mine, theirs, 1);
    }
    domain.restore();
    MPI_Request request = start_exchange(mine, theirs, 1);
    signal(1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(theirs == numbers(5, rendezvous));
}

// Half of it is done at the restore.
HAZARD(exchange_half_done) {
    if (world_rank() == 1) {
        send(numbers(5, rendezvous), 0, 1);
        await(0);
        CHECK(receive(rendezvous, 0, 1) == numbers(2, rendezvous));
        return;
    }
    Numbers mine = numbers(2, rendezvous);
    Numbers theirs = numbers(9, rendezvous);
    Domain domain;
    domain.keep(mine);
    domain.keep(theirs);
    const auto start_and_ask = [&] {
        MPI_Request request = start_exchange(mine, theirs, 1);
        for (int i = 0; i < 1000; ++i) {
            int complete = 1;
            MPI_Test(&request, &complete, MPI_STATUS_IGNORE);
            CHECK(!complete);
        }
        return request;
    };
    start_and_ask();
    destroy(mine);
    destroy(theirs);
    domain.restore();
    MPI_Request request = start_and_ask();
    signal(1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(theirs == numbers(5, rendezvous));
}

} // namespace mpi_4
