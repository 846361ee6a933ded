// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Persistent requests that the first execution has freed, and that the re-execution has again while
// another thread goes on live.
#include "beside_live.h"
#include "diverging.h"
#include "told_thread.h"

#include <functional>
#include <optional>

namespace freed_persistent {

namespace {

MPI_Request start_persistent(Numbers &buffer) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Recv_init(buffer.data(), eager, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    return request;
}

// What comes first has been sent before.
void receive_next() {
    Numbers next = numbers(before_anything, eager);
    MPI_Recv(next.data(), eager, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void wait_for(MPI_Request &request) {
    MPI_Status status = {};
    CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS);
    CHECK(tells(status, 1, 1, eager));
}

template <typename Before, typename After>
void uses_a_receive_beside(const Before &before, const After &after,
                           const std::function<void()> &between = {}) {
    if (world_rank() == 1) {
        be_the_other();
        send(numbers(2, eager), 0, 2);
        return;
    }
    Numbers buffer = numbers(before_anything, eager);
    Domain parent;
    parent.keep(buffer);
    MPI_Request request = MPI_REQUEST_NULL;
    goes_on_live_beside(
        parent, [&] { before(request, buffer); }, [&] { send_third(buffer); },
        [&] {
            after(request);
            CHECK(buffer == numbers(1, eager));
        },
        between);
}

void start_and_free(MPI_Request &request, Numbers &buffer) {
    request = start_persistent(buffer);
    MPI_Request_free(&request);
}

} // namespace

HAZARD_IN_THREADS(freed_persistent_receive_is_waited_for_beside_a_thread_that_goes_live) {
    uses_a_receive_beside(
        [](MPI_Request &request, Numbers &buffer) { request = start_persistent(buffer); },
        [](MPI_Request &request) {
            wait_for(request);
            MPI_Request_free(&request);
            receive_next();
        });
}

HAZARD_IN_THREADS(persistent_receive_is_freed_beside_a_thread_that_goes_live) {
    uses_a_receive_beside(start_and_free, [](MPI_Request &) { receive_next(); });
}

// The thread looks for what has come also before the other one goes on live.
HAZARD_IN_THREADS(freed_receive_brings_its_data_where_it_was_looked_for_too_early) {
    uses_a_receive_beside(
        start_and_free, [](MPI_Request &) { receive_next(); },
        [] {
            const Domain apart(nullptr, "apart");
            MPI_Barrier(MPI_COMM_SELF);
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
        request = start_persistent(buffer);
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
        wait_for(request);
        CHECK(buffer == numbers(1, eager));
        MPI_Request_free(&request);
        child.reset();
    });
}

} // namespace freed_persistent
