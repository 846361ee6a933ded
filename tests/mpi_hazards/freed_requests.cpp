// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Requests that the program frees, or whose status it asks for before they end.
#include "receives.h"

namespace freed_requests {

namespace {

constexpr int length = static_cast<int>(eager);

MPI_Request start_receive(Numbers &data) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(data.data(), length, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
    return request;
}

MPI_Request start_persistent_receive(Numbers &data) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Recv_init(data.data(), length, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    return request;
}

MPI_Request start_matched_receive(Numbers &data) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Mprobe(1, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(data.data(), length, MPI_INT, &message, &request);
    return request;
}

void await_status(MPI_Request request) {
    for (int complete = 0; !complete;) {
        MPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE);
    }
}

} // namespace

HAZARD(freeing_a_receive_under_way_is_refused) {
    if (world_rank() == 1) {
        send_on_signal(numbers(5, eager), 1);
        return;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    Numbers data = numbers(9, eager);
    Domain domain;
    domain.keep(data);
    const auto take = [&] {
        MPI_Request request = start_receive(data);
        CHECK(MPI_Request_free(&request) != MPI_SUCCESS);
        signal(1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(data == numbers(5, eager));
    };
    take();
    domain.restore();
    take();
}

namespace {

// From then on the program may do with the data what it likes.
void data_come_with_the_status(MPI_Request (*start)(Numbers &)) {
    if (world_rank() == 1) {
        send(numbers(5, eager), 0, 1);
        send({}, 0, 2);
        return;
    }
    Numbers data = numbers(9, eager);
    Domain domain;
    domain.keep(data);
    const auto take = [&] {
        MPI_Request request = start(data);
        await_status(request);
        Numbers expected = numbers(5, eager);
        CHECK(data == expected);
        data[3] = expected[3] = 42;
        MPI_Request_free(&request);
        CHECK(request == MPI_REQUEST_NULL);
        CHECK(data == expected);
        data[4] = expected[4] = 43;
        receive(0, 1, 2);
        CHECK(data == expected);
    };
    take();
    for (int i = 0; i < 2; ++i) {
        domain.restore();
        CHECK(data == numbers(9, eager));
        take();
    }
}

} // namespace

HAZARD(data_of_a_freed_receive_come_with_its_status) {
    for (const auto &start : {start_receive, start_persistent_receive, start_matched_receive}) {
        data_come_with_the_status(start);
    }
}

// The log ends between the two: what the program has from the log, it does not get again from MPI.
HAZARD(program_changes_what_get_status_has_brought_and_is_restored) {
    if (world_rank() == 1) {
        send(numbers(5, eager), 0, 1);
        return;
    }
    Numbers data = numbers(9, eager);
    Domain domain;
    domain.keep(data);
    MPI_Request request = MPI_REQUEST_NULL;
    const auto until_it_is_there = [&] {
        request = start_matched_receive(data);
        await_status(request);
        CHECK(data == numbers(5, eager));
        data[3] = 42;
    };
    until_it_is_there();
    destroy(data);
    domain.restore();
    until_it_is_there();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    Numbers expected = numbers(5, eager);
    expected[3] = 42;
    CHECK(data == expected);
}

// A restore found it complete, so that a request of ours stands in for it.
HAZARD(parked_persistent_receive_is_freed) {
    if (world_rank() == 1) {
        send(numbers(5, eager), 0, 1);
        signal(0);
        return;
    }
    Numbers data = numbers(9, eager);
    MPI_Request request = MPI_REQUEST_NULL;
    {
        Domain domain;
        domain.keep(data);
        const auto start = [&] {
            request = start_persistent_receive(data);
            await(1);
        };
        start();
        domain.restore();
        start();
    }
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK(data == numbers(5, eager));
}

} // namespace freed_requests
