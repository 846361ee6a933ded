// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Logs that the program deletes in the middle of their replay: what they have brought does not come
// again.
#include "receives.h"
#include "told_thread.h"

#include "cd/mpi_log.h"

#include <optional>
#include <thread>

namespace deleted_logs {

namespace {

void delete_log(const Domain &domain) { CHECK(delete_MPI_log_from_cd(domain.handle()) == SUCCESS); }

// A receive of rank 0's, and the log that has its end goes before the re-execution comes to that.
class Received {
public:
    void start() { request_ = post_receive(data, 1, 1); }
    void wait() {
        MPI_Status status = {};
        CHECK(MPI_Wait(&request_, &status) == MPI_SUCCESS);
        CHECK(tells(status, 1, 1, eager));
        CHECK(data == numbers(1, eager));
    }

    Numbers data = numbers(before_anything, eager);

private:
    MPI_Request request_ = MPI_REQUEST_NULL;
};

void send_it() { send(numbers(1, eager), 0, 1); }

} // namespace

HAZARD(deleted_log_has_what_it_would_have_completed) {
    if (world_rank() == 1) {
        send_it();
        send(numbers(2, eager), 0, 2);
        return;
    }
    Numbers first = numbers(8, eager);
    Numbers second = numbers(9, eager);
    MPI_Request requests[2] = {};
    {
        Domain domain;
        domain.keep(first);
        domain.keep(second);
        const auto start = [&] {
            requests[0] = post_receive(first, 1, 1);
            requests[1] = post_receive(second, 1, 2);
        };
        start();
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        domain.restore();
        start();
        delete_log(domain);
    }
    MPI_Status statuses[2] = {};
    MPI_Waitall(2, requests, statuses);
    CHECK(first == numbers(1, eager) && tells(statuses[0], 1, 1, eager));
    CHECK(second == numbers(2, eager) && tells(statuses[1], 1, 2, eager));
}

// The child has one of its own, as another one is there.
HAZARD(deleted_log_has_what_a_childs_would_have_completed) {
    if (world_rank() == 1) {
        send_it();
        return;
    }
    Received receive;
    Domain parent;
    parent.keep(receive.data);
    receive.start();
    {
        const Domain first(parent.handle());
        const Domain second(parent.handle());
        receive.wait();
    }
    parent.restore();
    receive.start();
    delete_log(parent);
    receive.wait();
}

HAZARD(deleted_log_has_what_that_of_an_active_child_would_have_completed) {
    if (world_rank() == 1) {
        send_it();
        return;
    }
    Received receive;
    Domain parent;
    parent.keep(receive.data);
    for (const bool again : {false, true}) {
        MPI_Barrier(MPI_COMM_SELF);
        const Domain first(parent.handle());
        const Domain second(parent.handle());
        receive.start();
        if (again) {
            CHECK(delete_MPI_log_from_cd(second.handle()) == FAILURE); // it is the parent's
            delete_log(parent);
        }
        receive.wait();
        if (!again) {
            parent.restore();
        }
    }
}

HAZARD_IN_THREADS(deleted_log_has_what_that_of_another_threads_child_would_have_completed) {
    if (world_rank() == 1) {
        send_it();
        return;
    }
    Received receive;
    Domain parent;
    parent.keep(receive.data);
    ToldThread thread;
    for (const bool again : {false, true}) {
        MPI_Barrier(MPI_COMM_SELF);
        std::optional<Domain> child;
        thread([&] {
            child.emplace(parent.handle());
            receive.start();
        });
        if (again) {
            delete_log(parent);
        }
        thread([&] {
            receive.wait();
            child.reset();
        });
        if (!again) {
            parent.restore();
        }
    }
}

HAZARD_IN_THREADS(log_that_another_thread_deletes_has_what_it_would_have_completed) {
    if (world_rank() == 1) {
        send_it();
        return;
    }
    Received receive;
    Domain domain;
    domain.keep(receive.data);
    receive.start();
    receive.wait();
    domain.restore();
    receive.start();
    std::thread([&] { delete_log(domain); }).join();
    receive.wait();
}

namespace {

// A child's log goes while what its parent has started is replayed, too.
void childs_log_is_deleted(bool then_the_parents) {
    if (world_rank() == 1) {
        for (int message = 0; message < 2; ++message) {
            send(numbers(2, eager), 0, 2);
        }
        send_it();
        return;
    }
    Received receive;
    Numbers childs = numbers(before_anything, eager);
    Domain parent;
    parent.keep(receive.data);
    for (const bool again : {false, true}) {
        receive.start();
        {
            const Domain first(parent.handle());
            Domain second(parent.handle());
            const auto execute = [&] {
                MPI_Recv(childs.data(), eager, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            };
            execute();
            if (again) {
                second.restore();
                delete_log(second);
                execute();
            }
        }
        if (again && then_the_parents) {
            delete_log(parent);
        }
        receive.wait();
        if (!again) {
            parent.restore();
        }
    }
}

} // namespace

HAZARD(log_of_a_child_that_is_deleted_takes_nothing_of_its_parents_replay) {
    childs_log_is_deleted(false);
}

HAZARD(log_of_a_child_that_is_deleted_takes_nothing_of_its_parents_log_that_is) {
    childs_log_is_deleted(true);
}

} // namespace deleted_logs
