// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Requests that the program frees while they are under way: nobody waits for them, and yet a
// re-execution gets what they bring.
#include "receives.h"
#include "told_thread.h"
#include "unwilling_mpi.h"

#include <functional>
#include <optional>

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

// How the program comes to know that the data are there: rank 1 has sent them before it signals.
void await_by_waiting() {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(nullptr, 0, MPI_INT, 1, 2, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void await_by_polling() {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(nullptr, 0, MPI_INT, 1, 2, MPI_COMM_WORLD, &request);
    for (int complete = 0; !complete;) {
        MPI_Test(&request, &complete, MPI_STATUS_IGNORE);
    }
}

void await_status(MPI_Request request) {
    for (int complete = 0; !complete;) {
        MPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE);
    }
}

void await_by_receiving() { receive(0, 1, 2); }

void data_come_again(const std::function<MPI_Request(Numbers &)> &start,
                     const std::function<void()> &await_data) {
    if (world_rank() == 1) {
        send_on_signal(numbers(5, eager), 1);
        send({}, 0, 2);
        return;
    }
    Numbers data = numbers(9, eager);
    Numbers elsewhere = data;
    Domain domain;
    domain.keep(data);
    const auto take = [&](Numbers &into) {
        MPI_Request request = start(into);
        MPI_Request_free(&request);
        CHECK(request == MPI_REQUEST_NULL);
        signal(1);
        await_data();
        CHECK(into == numbers(5, eager));
        destroy(into); // it is the program's again
        MPI_Barrier(MPI_COMM_SELF);
        CHECK(into != numbers(5, eager));
    };
    take(data);
    for (int i = 0; i < 2; ++i) {
        domain.restore();
        CHECK(data == numbers(9, eager));
        take(data);
    }
    domain.restore();
    take(elsewhere);
    CHECK(data == numbers(9, eager));
}

} // namespace

HAZARD(freed_receive_brings_its_data_again) { data_come_again(start_receive, await_by_receiving); }

HAZARD(freed_receive_brings_its_data_again_before_a_wait_is_over) {
    data_come_again(start_receive, await_by_waiting);
}

HAZARD(freed_receive_brings_its_data_again_before_a_poll_succeeds) {
    data_come_again(start_receive, await_by_polling);
}

HAZARD(freed_persistent_receive_brings_its_data_again) {
    data_come_again(start_persistent_receive, await_by_receiving);
}

// The status of a request that is not freed yet is told, and the other's data are there.
HAZARD(freed_receive_brings_its_data_again_before_a_status_is_told) {
    if (world_rank() == 1) {
        send_on_signal(numbers(5, eager), 1);
        send({}, 0, 2);
        return;
    }
    Numbers data = numbers(9, eager);
    Domain domain;
    domain.keep(data);
    const auto take = [&] {
        MPI_Request freed = start_receive(data);
        MPI_Request_free(&freed);
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Irecv(nullptr, 0, MPI_INT, 1, 2, MPI_COMM_WORLD, &request);
        signal(1);
        await_status(request);
        CHECK(data == numbers(5, eager));
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    };
    take();
    for (int i = 0; i < 2; ++i) {
        domain.restore();
        CHECK(data == numbers(9, eager));
        take();
    }
}

namespace {

// From then on the program may do with the data what it likes.
void data_come_with_the_status(const std::function<MPI_Request(Numbers &)> &start) {
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

HAZARD(data_of_a_freed_receive_come_with_its_status) { data_come_with_the_status(start_receive); }

HAZARD(data_of_a_freed_persistent_receive_come_with_its_status) {
    data_come_with_the_status(start_persistent_receive);
}

HAZARD(data_of_a_freed_matched_receive_come_with_its_status) {
    data_come_with_the_status(start_matched_receive);
}

// It is older than the CD that frees it.
HAZARD(older_receive_that_is_freed_brings_its_data_again) {
    if (world_rank() == 1) {
        send_on_signal(numbers(5, eager), 1);
        signal(0);
        return;
    }
    Numbers data = numbers(9, eager);
    MPI_Request request = start_receive(data);
    Domain domain;
    domain.keep(data);
    const cd_addrspec handle = {&request, sizeof request, READ_WRITE, GLOBAL};
    CHECK(add_to_cd_via_copy(domain.handle(), handle, 1) == SUCCESS);
    const auto take = [&] {
        MPI_Request_free(&request);
        signal(1);
        await(1);
        CHECK(data == numbers(5, eager));
    };
    take();
    for (int i = 0; i < 2; ++i) {
        destroy(data);
        domain.restore();
        CHECK(data == numbers(9, eager));
        take();
    }
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

HAZARD(data_of_a_freed_matched_receive_arrive) {
    if (world_rank() == 1) {
        send(numbers(4, rendezvous), 0, 5);
        signal(0);
        return;
    }
    Numbers buffer(rendezvous);
    const Domain domain;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Mprobe(1, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(buffer.data(), rendezvous, MPI_INT, &message, &request);
    MPI_Request_free(&request);
    await(1); // which has sent it all
    MPI_Barrier(MPI_COMM_SELF);
    CHECK(buffer == numbers(4, rendezvous));
}

// A re-execution makes it and starts it again.
HAZARD(persistent_receive_freed_while_it_is_active) {
    if (world_rank() == 1) {
        send(numbers(4, eager), 0, 5);
        signal(0);
        await(0);
        send(numbers(6, eager), 0, 6);
        return;
    }
    Numbers buffer = numbers(99, eager);
    Numbers other = numbers(99, eager);
    {
        Domain domain;
        domain.keep(other);
        const auto work = [&] {
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Recv_init(buffer.data(), eager, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
            MPI_Start(&request);
            MPI_Request_free(&request);
            CHECK(request == MPI_REQUEST_NULL);
            await(1);
            CHECK(buffer == numbers(4, eager));
        };
        work();
        domain.restore();
        work();
        domain.restore();
        work();
        signal(1);
        CHECK(receive(eager, 1, 6) == numbers(6, eager));
    }
}

namespace {

bool mpi_has_waited = false;

} // namespace

// The thread that has started it without a domain may be asking MPI about it: a restore in another
// one, which takes back that it was freed, does not stop it.
HAZARD_IN_THREADS(freed_receive_is_its_threads_while_another_one_restores) {
    if (world_rank() == 1) {
        send_on_signal(numbers(5, eager), 1);
        signal(0);
        return;
    }
    Numbers data = numbers(9, eager);
    MPI_Request request = MPI_REQUEST_NULL;
    Domain parent;
    ToldThread thread;
    const auto free_in_a_domain = [&] {
        const Domain child(parent.handle());
        MPI_Request copy = request;
        MPI_Request_free(&copy);
    };
    thread([&] {
        request = start_persistent_receive(data);
        free_in_a_domain();
    });
    call_at_the_end_of_a_wait([] { mpi_has_waited = true; });
    CHECK(restore_cd(parent.handle()) == SUCCESS); // its own log is empty
    call_at_the_end_of_a_wait(nullptr);
    CHECK(!mpi_has_waited);
    thread([&] {
        free_in_a_domain();
        const Domain apart(nullptr, "apart");
        signal(1);
        await(1);
        CHECK(data == numbers(5, eager));
    });
}

// No log has that it was freed.
HAZARD_IN_THREADS(persistent_receive_freed_without_a_domain_is_there_again) {
    if (world_rank() == 1) {
        send_on_signal(numbers(1, eager), 1);
        signal(0);
        return;
    }
    Numbers buffer = numbers(before_anything, eager);
    Domain parent;
    parent.keep(buffer);
    ToldThread thread;
    std::optional<Domain> child;
    MPI_Request request = MPI_REQUEST_NULL;
    const auto start = [&] {
        child.emplace(parent.handle());
        request = start_persistent_receive(buffer);
    };
    thread([&] {
        start();
        child.reset();
        MPI_Request_free(&request);
    });
    CHECK(restore_cd(parent.handle()) == SUCCESS); // its own log is empty
    thread([&] {
        start();
        signal(1);
        await(1);
        MPI_Status status = {};
        CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS && tells(status, 1, 1, eager));
        CHECK(buffer == numbers(1, eager));
        MPI_Request_free(&request);
        child.reset();
    });
}

} // namespace freed_requests
