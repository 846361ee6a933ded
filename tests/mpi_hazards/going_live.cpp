// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// CD_ON_DIVERGENCE=live: what is under way when the log is left goes on.
#include "beside_live.h"
#include "complaints.h"
#include "diverging.h"
#include "told_thread.h"

#include "cd/mpi_log.h"

#include <cstdlib>

namespace going_live {

namespace {

// Of what may be called on either.
void set_error_handlers(MPI_Errhandler handler) {
    for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
        MPI_Comm_set_errhandler(comm, handler);
    }
}

void start_receives(Numbers &first, Numbers &second, MPI_Request *requests) {
    MPI_Irecv(first.data(), eager, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(second.data(), eager, MPI_INT, 1, 2, MPI_COMM_WORLD, &requests[1]);
}

void start_persistent_receives(Numbers &first, Numbers &second, MPI_Request *requests) {
    MPI_Recv_init(first.data(), eager, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(second.data(), eager, MPI_INT, 1, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Startall(2, requests);
}

void wait_for_the_first_first(MPI_Request *requests) {
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

void wait_for_all(MPI_Request *requests) { MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); }

void wait_for_some(MPI_Request *requests) {
    int indices[2];
    for (int done = 0; done < 2;) {
        int count = 0;
        MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
        done += count;
    }
}

void free_when_told(MPI_Request *requests) {
    for (int i = 0; i < 2; ++i) {
        for (int complete = 0; !complete;) {
            MPI_Request_get_status(requests[i], &complete, MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&requests[i]);
    }
}

// The log completes rank 0's receives in another way than the re-execution. What they have brought
// will not be sent again.
void goes_on_live_with_receives(void (*start)(Numbers &, Numbers &, MPI_Request *),
                                void (*complete)(MPI_Request *)) {
    if (world_rank() == 1) {
        be_the_other();
        return;
    }
    setenv("CD_ON_DIVERGENCE", "live", 1);
    Numbers first = numbers(8, eager);
    Numbers second = numbers(9, eager);
    Domain domain;
    domain.keep(first);
    domain.keep(second);
    MPI_Request requests[2];
    start(first, second, requests);
    complete(requests);
    domain.restore();
    start(first, second, requests);
    MPI_Status statuses[2];
    {
        Complaints complaints;
        CHECK(MPI_Wait(&requests[1], &statuses[1]) == MPI_SUCCESS);
        CHECK(complaints.name("going on live"));
    }
    CHECK(MPI_Wait(&requests[0], &statuses[0]) == MPI_SUCCESS);
    CHECK(tells(statuses[0], 1, 1, eager) && first == numbers(1, eager));
    CHECK(tells(statuses[1], 1, 2, eager) && second == numbers(2, eager));
    CHECK(!domain.info().replaying);
    send_third(first);
}

} // namespace

HAZARD(divergence_goes_on_live_with_receives_that_the_log_completes) {
    goes_on_live_with_receives(start_receives, wait_for_the_first_first);
}

HAZARD(divergence_goes_on_live_with_receives_that_the_log_completes_together) {
    goes_on_live_with_receives(start_receives, wait_for_all);
}

HAZARD(divergence_goes_on_live_with_receives_that_the_log_completes_as_they_come) {
    goes_on_live_with_receives(start_receives, wait_for_some);
}

HAZARD(divergence_goes_on_live_with_receives_that_the_log_frees) {
    goes_on_live_with_receives(start_receives, free_when_told);
}

HAZARD(divergence_goes_on_live_with_persistent_receives_that_the_log_completes) {
    goes_on_live_with_receives(start_persistent_receives, wait_for_the_first_first);
}

// Its second use is under way at the restore: the re-execution, which takes another way after the
// first start, comes to it where it starts the request a second time.
HAZARD(divergence_goes_on_live_with_a_persistent_send_under_way) {
    if (world_rank() == 1) {
        CHECK(receive(rendezvous, 0, 1) == numbers(1, rendezvous));
        await(0);
        CHECK(receive(rendezvous, 0, 1) == numbers(2, rendezvous));
        return;
    }
    setenv("CD_ON_DIVERGENCE", "live", 1);
    Numbers data = numbers(1, rendezvous);
    Domain domain;
    domain.keep(data);
    MPI_Request request = MPI_REQUEST_NULL;
    const auto make_and_start = [&] {
        MPI_Send_init(data.data(), rendezvous, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
    };
    make_and_start();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    set(data, numbers(2, rendezvous));
    MPI_Start(&request);
    domain.restore();
    make_and_start();
    MPI_Barrier(MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    set(data, numbers(2, rendezvous));
    MPI_Start(&request);
    signal(1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

// The same of a receive whose message has come.
HAZARD(divergence_goes_on_live_with_a_persistent_receive_under_way) {
    if (world_rank() == 1) {
        send(numbers(1, eager), 0, 1);
        send(numbers(2, eager), 0, 1);
        signal(0);
        return;
    }
    setenv("CD_ON_DIVERGENCE", "live", 1);
    Numbers data = numbers(9, eager);
    Domain domain;
    domain.keep(data);
    MPI_Request request = MPI_REQUEST_NULL;
    const auto make_and_start = [&] {
        MPI_Recv_init(data.data(), eager, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
    };
    make_and_start();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Start(&request);
    await(1);
    domain.restore();
    make_and_start();
    MPI_Barrier(MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(data == numbers(1, eager));
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(data == numbers(2, eager));
    MPI_Request_free(&request);
}

// One of two children, which had a log of its own.
HAZARD(divergence_goes_on_live_with_a_receive_that_the_log_of_a_child_completes) {
    if (world_rank() == 1) {
        be_the_other();
        return;
    }
    setenv("CD_ON_DIVERGENCE", "live", 1);
    Numbers buffer = numbers(9, eager);
    Domain parent;
    parent.keep(buffer);
    MPI_Request request = post_receive(buffer, 1, 1);
    {
        const Domain first(parent.handle());
        const Domain second(parent.handle());
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_SELF);
    parent.restore();
    request = post_receive(buffer, 1, 1);
    {
        Complaints complaints;
        Numbers other = buffer;
        CHECK(receive_second(other) == MPI_SUCCESS);
        CHECK(complaints.name("going on live"));
    }
    MPI_Status status = {};
    CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS && tells(status, 1, 1, eager));
    CHECK(buffer == numbers(1, eager));
    send_third(buffer);
}

// The child's part of the log is what its parent, which was restored, has still to replay.
HAZARD(divergence_goes_on_live_in_the_child_of_what_is_restored) {
    if (world_rank() == 1) {
        be_the_other();
        return;
    }
    setenv("CD_ON_DIVERGENCE", "live", 1);
    Numbers buffer = numbers(9, eager);
    Domain parent;
    parent.keep(buffer);
    {
        const Domain child(parent.handle());
        receive_first(buffer);
    }
    MPI_Barrier(MPI_COMM_SELF);
    parent.restore();
    {
        const Domain child(parent.handle());
        const Complaints complaints;
        CHECK(receive_second(buffer) == MPI_SUCCESS);
        CHECK(buffer == numbers(2, eager));
    }
    CHECK(!parent.info().replaying);
    send_third(buffer);
}

namespace {

void wait_for(MPI_Request &request, MPI_Status &status) {
    CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS);
}

void test_for(MPI_Request &request, MPI_Status &status) {
    for (int count = 0; count == 0;) {
        int index = 0;
        CHECK(MPI_Testsome(1, &request, &count, &index, &status) == MPI_SUCCESS);
    }
}

void ask_and_free(MPI_Request &request, MPI_Status &status) {
    for (int complete = 0; !complete;) {
        CHECK(MPI_Request_get_status(request, &complete, &status) == MPI_SUCCESS);
    }
    MPI_Request_free(&request);
}

// What comes next has been sent after that.
void free_and_receive_next(MPI_Request &request, MPI_Status &status) {
    MPI_Request_free(&request);
    Numbers next = numbers(before_anything, eager);
    MPI_Recv(next.data(), eager, MPI_INT, 1, 2, MPI_COMM_WORLD, &status);
    status.MPI_TAG = 1;
}

void goes_on_live_beside_another_thread(void (*finish)(MPI_Request &, MPI_Status &)) {
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
        parent, [&] { request = post_receive(buffer, 1, 1); }, [&] { send_third(buffer); },
        [&] {
            MPI_Status status = {};
            finish(request, status);
            CHECK(tells(status, 1, 1, eager));
            CHECK(buffer == numbers(1, eager));
        });
    if (finish != free_and_receive_next) {
        receive(eager, 1, 2);
        receive(eager, 1, 2);
    }
}

} // namespace

HAZARD_IN_THREADS(divergence_goes_on_live_beside_a_thread_that_waits) {
    goes_on_live_beside_another_thread(wait_for);
}

HAZARD_IN_THREADS(divergence_goes_on_live_beside_a_thread_that_tests) {
    goes_on_live_beside_another_thread(test_for);
}

HAZARD_IN_THREADS(divergence_goes_on_live_beside_a_thread_that_asks) {
    goes_on_live_beside_another_thread(ask_and_free);
}

HAZARD_IN_THREADS(divergence_goes_on_live_beside_a_thread_that_frees) {
    goes_on_live_beside_another_thread(free_and_receive_next);
}

namespace {

int wait_for_result(MPI_Request &request) { return MPI_Wait(&request, MPI_STATUS_IGNORE); }

int ask_for_result(MPI_Request &request) {
    int complete = 0;
    int result = MPI_SUCCESS;
    while (result == MPI_SUCCESS && !complete) {
        result = MPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return result;
}

// The thread has waited where it had no domain any more, and no log has what came.
void fails_where_no_log_has_it(int (*finish)(MPI_Request &)) {
    if (world_rank() == 1) {
        send(numbers(1, eager), 0, 1);
        return;
    }
    set_error_handlers(MPI_ERRORS_RETURN);
    Numbers buffer = numbers(before_anything, eager);
    Domain parent;
    parent.keep(buffer);
    ToldThread thread;
    for (const bool again : {false, true}) {
        thread([&] {
            MPI_Request request = MPI_REQUEST_NULL;
            {
                const Domain child(parent.handle());
                request = post_receive(buffer, 1, 1);
            }
            Complaints complaints;
            CHECK((finish(request) != MPI_SUCCESS) == again);
            CHECK(complaints.name("the log that has what it brings is gone") == again);
        });
        if (!again) {
            CHECK(buffer == numbers(1, eager));
            CHECK(restore_cd(parent.handle()) == SUCCESS); // its own log is empty
        }
    }
    set_error_handlers(MPI_ERRORS_ARE_FATAL);
}

} // namespace

HAZARD_IN_THREADS(request_that_no_log_completes_fails) {
    fails_where_no_log_has_it(wait_for_result);
}

HAZARD_IN_THREADS(request_that_no_log_completes_fails_where_the_program_asks) {
    fails_where_no_log_has_it(ask_for_result);
}

// A thread that makes progress for others has no domain: the log of the one that waits has the
// data.
HAZARD_IN_THREADS(request_that_a_log_will_complete_does_not_fail_where_a_thread_without_one_asks) {
    if (world_rank() == 1) {
        send_on_signal(numbers(1, eager), 1);
        return;
    }
    set_error_handlers(MPI_ERRORS_RETURN);
    Numbers buffer = numbers(before_anything, eager);
    {
        Domain domain;
        domain.keep(buffer);
        ToldThread thread;
        for (const bool again : {false, true}) {
            MPI_Request request = post_receive(buffer, 1, 1);
            bool fails = false;
            {
                Complaints complaints;
                thread([&] {
                    int complete = 0;
                    fails = MPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE) !=
                            MPI_SUCCESS;
                });
                fails = fails || complaints.name("the log that has what it brings is gone");
            }
            CHECK(!fails);
            signal(1);
            MPI_Status status = {};
            CHECK(MPI_Wait(&request, &status) == MPI_SUCCESS && tells(status, 1, 1, eager));
            CHECK(buffer == numbers(1, eager));
            if (!again) {
                domain.restore();
            }
        }
    }
    set_error_handlers(MPI_ERRORS_ARE_FATAL);
}

// Nothing is missing.
HAZARD_IN_THREADS(empty_message_that_no_log_has_does_not_fail) {
    if (world_rank() == 1) {
        send({}, 0, 1);
        return;
    }
    set_error_handlers(MPI_ERRORS_RETURN);
    {
        Domain parent;
        ToldThread thread;
        for (const bool again : {false, true}) {
            thread([&] {
                MPI_Request request = MPI_REQUEST_NULL;
                {
                    const Domain child(parent.handle());
                    MPI_Irecv(nullptr, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
                }
                CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
            });
            if (!again) {
                CHECK(restore_cd(parent.handle()) == SUCCESS); // its own log is empty
            }
        }
    }
    set_error_handlers(MPI_ERRORS_ARE_FATAL);
}

// Other data than those under way are not taken for these, whose receiver waits for nothing else.
HAZARD(persistent_send_of_other_data_is_refused_while_one_is_under_way) {
    Numbers data = numbers(1, rendezvous);
    if (world_rank() == 1) {
        await(0);
        MPI_Recv(data.data(), rendezvous, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(data == numbers(1, rendezvous));
        return;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Send_init(data.data(), rendezvous, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
    {
        Domain domain;
        MPI_Start(&request);
        domain.restore();
        CHECK(delete_MPI_log_from_cd(domain.handle()) == SUCCESS);
    }
    data[3] += 1;
    {
        Complaints complaints;
        CHECK(MPI_Start(&request) != MPI_SUCCESS);
        CHECK(complaints.name("sends other data"));
    }
    data[3] -= 1;
    CHECK(MPI_Start(&request) == MPI_SUCCESS);
    signal(1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

} // namespace going_live
