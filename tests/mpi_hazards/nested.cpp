// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Requests that one CD starts, and another one inside it or around it completes.
#include "hazard.h"

namespace nested {

// Pending when the child ends, completed by the parent.
HAZARD(request_outlives_its_child) {
    if (world_rank() == 1) {
        send_on_signal(numbers(1, eager), 1);
        return;
    }
    Numbers buffer = numbers(9, eager);
    Domain parent;
    parent.keep(buffer);
    const auto start_in_child = [&] {
        const Domain child(parent.handle());
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Irecv(buffer.data(), eager, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
        return request;
    };
    start_in_child();
    parent.restore();
    const auto complete = [&] {
        MPI_Request request = start_in_child();
        signal(1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(buffer == numbers(1, eager));
    };
    complete();
    destroy(buffer);
    parent.restore();
    complete();
}

// Pending when the child begins, completed by the child, which alone is restored.
HAZARD(request_of_the_parent_completes_in_the_child) {
    if (world_rank() == 1) {
        send_on_signal(numbers(1, eager), 1);
        return;
    }
    Numbers buffer = numbers(9, eager);
    MPI_Request request = MPI_REQUEST_NULL;
    Domain parent;
    parent.keep(buffer);
    const auto start = [&] {
        MPI_Irecv(buffer.data(), eager, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
    };
    const auto complete = [&] {
        signal(1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(request == MPI_REQUEST_NULL);
        CHECK(buffer == numbers(1, eager));
    };
    start();
    {
        Domain child(parent.handle());
        child.keep(buffer);
        const cd_addrspec handle = {&request, sizeof request, READ_WRITE, GLOBAL};
        CHECK(add_to_cd_via_copy(child.handle(), handle, 1) == SUCCESS);
        complete();
        destroy(buffer);
        child.restore();
        complete();
        destroy(buffer);
        child.restore();
        complete();
    }
    destroy(buffer);
    parent.restore();
    start();
    {
        Domain child(parent.handle());
        child.keep(buffer);
        complete();
    }
}

// The parent's re-execution has the memory elsewhere, and so has the child that is restored in it.
HAZARD(request_of_the_parent_completes_in_the_child_of_a_reexecution) {
    if (world_rank() == 1) {
        send_on_signal(numbers(1, eager), 1);
        send(numbers(2, eager), 0, 2);
        return;
    }
    Numbers first = numbers(9, eager);
    Numbers second = numbers(9, eager);
    Domain parent;
    const auto execute = [&](Numbers &buffer, bool fails) {
        MPI_Request kept[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        Numbers other(eager);
        MPI_Irecv(buffer.data(), eager, MPI_INT, 1, 1, MPI_COMM_WORLD, &kept[0]);
        MPI_Recv_init(other.data(), eager, MPI_INT, 1, 2, MPI_COMM_WORLD, &kept[1]);
        MPI_Start(&kept[1]);
        Domain child(parent.handle());
        for (int i = 0; i < (fails ? 2 : 1); ++i) {
            MPI_Request requests[2] = {kept[0], kept[1]};
            signal(1);
            for (int complete = 0; complete == 0;) {
                MPI_Request_get_status(requests[0], &complete, MPI_STATUS_IGNORE);
            }
            CHECK(buffer == numbers(1, eager));
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
            CHECK(buffer == numbers(1, eager));
            CHECK(other == numbers(2, eager));
            MPI_Request_free(&requests[1]);
            if (fails && i == 0) {
                destroy(buffer);
                destroy(other);
                destroy(&buffer == &first ? second : first);
                child.restore();
            }
        }
        CHECK(!fails || (&buffer == &first ? second : first) != numbers(1, eager));
    };
    execute(first, false);
    parent.restore();
    execute(second, true);
    parent.restore();
    execute(first, true);
}

} // namespace nested
