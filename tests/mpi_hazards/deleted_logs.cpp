// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Requests whose data only a log has that the program deletes in the middle of its replay, or that
// belongs to another CD: they fail where they are waited for.
#include "complaints.h"
#include "receives.h"
#include "worker_thread.h"

#include "cd/mpi_log.h"

namespace deleted_logs {

namespace {

void delete_log(const Domain &domain) { CHECK(delete_MPI_log_from_cd(domain.handle()) == SUCCESS); }

void set_error_handlers(MPI_Errhandler handler) {
    for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
        MPI_Comm_set_errhandler(comm, handler);
    }
}

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
    void fails() {
        CHECK(MPI_Wait(&request_, MPI_STATUS_IGNORE) != MPI_SUCCESS);
        CHECK(request_ == MPI_REQUEST_NULL);
    }

    Numbers data = numbers(before_anything, eager);

private:
    MPI_Request request_ = MPI_REQUEST_NULL;
};

void send_it() { send(numbers(1, eager), 0, 1); }

void delete_log_that_has_data(const Domain &domain) {
    Complaints complaints;
    delete_log(domain);
    CHECK(complaints.name("deletes a log in its replay that has the data of 1 request"));
}

} // namespace

HAZARD(request_whose_log_is_deleted_fails) {
    if (world_rank() == 1) {
        send_it();
        return;
    }
    set_error_handlers(MPI_ERRORS_RETURN);
    {
        Received receive;
        Domain domain;
        domain.keep(receive.data);
        receive.start();
        receive.wait();
        domain.restore();
        receive.start();
        delete_log_that_has_data(domain);
        receive.fails();
    }
    set_error_handlers(MPI_ERRORS_ARE_FATAL);
}

// A child's log goes while what its parent has started is replayed, too.
HAZARD(log_of_a_child_that_is_deleted_takes_nothing_of_its_parents_replay) {
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
        receive.wait();
        if (!again) {
            parent.restore();
        }
    }
}

// The thread has waited where it had no domain any more, and no log has what came.
HAZARD_IN_THREADS(request_that_no_log_completes_fails) {
    if (world_rank() == 1) {
        send(numbers(1, eager), 0, 1);
        return;
    }
    set_error_handlers(MPI_ERRORS_RETURN);
    Numbers buffer = numbers(before_anything, eager);
    Domain parent;
    parent.keep(buffer);
    WorkerThread thread;
    for (const bool again : {false, true}) {
        thread([&] {
            MPI_Request request = MPI_REQUEST_NULL;
            {
                const Domain child(parent.handle());
                request = post_receive(buffer, 1, 1);
            }
            Complaints complaints;
            CHECK((MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS) == again);
            CHECK(complaints.name("the log with the data of a request is gone") == again);
        });
        if (!again) {
            CHECK(buffer == numbers(1, eager));
            CHECK(restore_cd(parent.handle()) == SUCCESS); // its own log is empty
        }
    }
    set_error_handlers(MPI_ERRORS_ARE_FATAL);
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
        WorkerThread thread;
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
                fails = fails || complaints.name("the log with the data of a request is gone");
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

HAZARD(persistent_send_whose_suspended_use_no_log_has_is_refused) {
    Numbers data = numbers(1, rendezvous);
    if (world_rank() == 1) {
        MPI_Recv(data.data(), rendezvous, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(data == numbers(1, rendezvous));
        MPI_Barrier(MPI_COMM_WORLD);
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
    Complaints complaints;
    CHECK(MPI_Start(&request) != MPI_SUCCESS);
    CHECK(complaints.name("the log that has it is gone"));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Barrier(MPI_COMM_WORLD); // MPI_Finalize of MPICH 4.2 does not wait for the message
}

} // namespace deleted_logs
