// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Messages that a matched probe has taken out of the queue, and that nobody else can receive.
#include "receives.h"

namespace found_messages {

// A message that a matched probe has taken out of the queue.
HAZARD(matched_probe_pending) {
    if (world_rank() == 1) {
        send(numbers(4, rendezvous), 0, 5);
        return;
    }
    Numbers buffer = numbers(before_anything, rendezvous);
    Domain domain;
    domain.keep(buffer);
    MPI_Message message = MPI_MESSAGE_NULL;
    const auto probe = [&] {
        MPI_Status status;
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
        CHECK(tells(status, 1, 5, rendezvous));
    };
    probe();
    domain.restore();
    probe();
    const auto start = [&] {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Imrecv(buffer.data(), static_cast<int>(rendezvous), MPI_INT, &message, &request);
        return request;
    };
    start();
    domain.restore();
    probe();
    MPI_Request request = start();
    MPI_Status status;
    MPI_Wait(&request, &status);
    CHECK(tells(status, 1, 5, rendezvous));
    CHECK(buffer == numbers(4, rendezvous));
    destroy(buffer);
    domain.restore();
    probe();
    request = start();
    MPI_Wait(&request, &status);
    CHECK(tells(status, 1, 5, rendezvous));
    CHECK(buffer == numbers(4, rendezvous));
}

// The program changes what MPI_Request_get_status has brought, and the log ends there: what the
// program has from the log, it does not get again from MPI.
HAZARD(program_changes_what_get_status_has_brought_and_is_restored) {
    if (world_rank() == 1) {
        send(numbers(4, eager), 0, 5);
        return;
    }
    Numbers buffer = numbers(before_anything, eager);
    Domain domain;
    domain.keep(buffer);
    MPI_Request request = MPI_REQUEST_NULL;
    const auto until_it_is_there = [&] {
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Mprobe(1, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Imrecv(buffer.data(), eager, MPI_INT, &message, &request);
        for (int complete = 0; !complete;) {
            MPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE);
        }
        CHECK(buffer == numbers(4, eager));
        buffer[3] = 42;
    };
    until_it_is_there();
    destroy(buffer);
    domain.restore();
    until_it_is_there();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    Numbers expected = numbers(4, eager);
    expected[3] = 42;
    CHECK(buffer == expected);
}

} // namespace found_messages
