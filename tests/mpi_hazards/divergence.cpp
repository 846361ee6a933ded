// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// A program that does something else than the log.
#include "cd/mpi_log.h"
#include "complaints.h"
#include "receives.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

namespace divergence {

namespace {

// Rank 1 sends two messages and receives one.
void be_the_other() {
    send(numbers(1, eager), 0, 1);
    send(numbers(2, eager), 0, 2);
    receive(eager, 0, 3);
}

using Call = std::function<int(Numbers &)>;

int receive_first(Numbers &buffer) {
    return MPI_Recv(buffer.data(), eager, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int send_third(const Numbers &data) {
    return MPI_Send(data.data(), static_cast<int>(data.size()), MPI_INT, 1, 3, MPI_COMM_WORLD);
}

// The first execution makes one call, the re-execution another: that is an error which names both
// calls and where they are, and nothing is delivered, nor later.
void refuses(const Call &recorded, const Call &other, const char *log_has,
             const char *program_calls) {
    if (world_rank() == 1) {
        be_the_other();
        return;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    Numbers buffer = numbers(9, eager);
    Domain domain;
    domain.keep(buffer);
    CHECK(receive_first(buffer) == MPI_SUCCESS);
    CHECK(recorded(buffer) == MPI_SUCCESS);
    domain.restore();
    CHECK(receive_first(buffer) == MPI_SUCCESS);
    const Numbers before = buffer;
    {
        Complaints complaints;
        const int result = other(buffer);
        CHECK(result != MPI_SUCCESS);
        CHECK(complaints.name((std::string("the program calls ") + program_calls).c_str()));
        CHECK(complaints.name((std::string("the log has       ") + log_has).c_str()));
        CHECK(complaints.name("cd_mpi_hazards"));
        CHECK(complaints.name("rank 0"));
    }
    {
        Complaints complaints;
        CHECK(recorded(buffer) != MPI_SUCCESS);
        CHECK(complaints.name("fails, too"));
        CHECK(complaints.name("restore the CD"));
    }
    {
        Complaints complaints;
        CHECK(recorded(buffer) != MPI_SUCCESS);
        CHECK(complaints.text().empty());
    }
    CHECK(buffer == before);
    domain.restore();
    CHECK(receive_first(buffer) == MPI_SUCCESS);
    CHECK(recorded(buffer) == MPI_SUCCESS);
    if (std::string(log_has) != "MPI_Send") {
        CHECK(send_third(buffer) == MPI_SUCCESS);
    } else {
        CHECK(receive(eager, 1, 2) == numbers(2, eager));
    }
}

int receive_second(Numbers &buffer) {
    return MPI_Recv(buffer.data(), eager, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

} // namespace

HAZARD(divergence_another_function) {
    refuses(
        receive_second, [](Numbers &buffer) { return send_third(buffer); }, "MPI_Recv", "MPI_Send");
}

HAZARD(divergence_another_count) {
    refuses(
        receive_second,
        [](Numbers &buffer) {
            return MPI_Recv(buffer.data(), eager / 2, MPI_INT, 1, 2, MPI_COMM_WORLD,
                            MPI_STATUS_IGNORE);
        },
        "MPI_Recv", "MPI_Recv");
}

HAZARD(divergence_another_tag) {
    refuses(
        receive_second,
        [](Numbers &buffer) {
            return MPI_Recv(buffer.data(), eager, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        },
        "MPI_Recv", "MPI_Recv");
}

HAZARD(divergence_another_communicator) {
    refuses(
        receive_second,
        [](Numbers &buffer) {
            return MPI_Recv(buffer.data(), eager, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_SELF,
                            MPI_STATUS_IGNORE);
        },
        "MPI_Recv(16, MPI_INT, rank 1, tag 2, MPI_COMM_WORLD)",
        "MPI_Recv(16, MPI_INT, MPI_ANY_SOURCE, tag 2, MPI_COMM_SELF)");
}

// What MPI has from the start, and what the program has given a name.
HAZARD(divergence_is_told_by_names) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm halo = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &halo);
    MPI_Comm_set_name(halo, "halo");
    double sum = 0;
    {
        Domain domain;
        const double one = 1;
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, halo);
        domain.restore();
        Complaints complaints;
        CHECK(MPI_Allreduce(&one, &sum, 1, MPI_FLOAT, MPI_MAX, halo) != MPI_SUCCESS);
        CHECK(complaints.name("the program calls MPI_Allreduce(1, MPI_FLOAT, MPI_MAX, "));
        CHECK(complaints.name("the log has       MPI_Allreduce(1, MPI_DOUBLE, MPI_SUM, "));
        CHECK(complaints.name(" is \"halo\"\n"));
        domain.restore();
        CHECK(MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, halo) == MPI_SUCCESS);
    }
    CHECK(sum == world_size());
    MPI_Comm_free(&halo);
}

HAZARD(divergence_other_data_sent) {
    refuses([](Numbers &) { return send_third(numbers(5, eager)); },
            [](Numbers &) { return send_third(numbers(6, eager)); }, "MPI_Send", "MPI_Send");
}

HAZARD(divergence_other_data_in_isend) {
    const auto send_these = [](int seed) {
        return [seed](Numbers &) {
            const Numbers data = numbers(seed, eager);
            MPI_Request request = MPI_REQUEST_NULL;
            const int result =
                MPI_Isend(data.data(), eager, MPI_INT, 1, 3, MPI_COMM_WORLD, &request);
            return result == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : result;
        };
    };
    if (world_rank() == 1) {
        be_the_other();
        return;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    Numbers buffer = numbers(9, eager);
    Domain domain;
    domain.keep(buffer);
    CHECK(receive_first(buffer) == MPI_SUCCESS);
    CHECK(send_these(5)(buffer) == MPI_SUCCESS);
    domain.restore();
    CHECK(receive_first(buffer) == MPI_SUCCESS);
    {
        Complaints complaints;
        CHECK(send_these(6)(buffer) != MPI_SUCCESS);
        CHECK(complaints.name("MPI_Isend"));
    }
    domain.restore();
    CHECK(receive_first(buffer) == MPI_SUCCESS);
    CHECK(send_these(5)(buffer) == MPI_SUCCESS);
    CHECK(receive_second(buffer) == MPI_SUCCESS);
    CHECK(buffer == numbers(2, eager));
}

HAZARD(divergence_other_requests_waited_for) {
    if (world_rank() == 1) {
        be_the_other();
        return;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    Numbers first = numbers(8, eager);
    Numbers second = numbers(9, eager);
    Domain domain;
    domain.keep(first);
    domain.keep(second);
    MPI_Request requests[2];
    const auto start = [&] {
        MPI_Irecv(first.data(), eager, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(second.data(), eager, MPI_INT, 1, 2, MPI_COMM_WORLD, &requests[1]);
    };
    start();
    CHECK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE) == MPI_SUCCESS);
    domain.restore();
    start();
    {
        Complaints complaints;
        CHECK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE) != MPI_SUCCESS);
        CHECK(complaints.name("MPI_Wait"));
    }
    CHECK(first == numbers(8, eager));
    domain.restore();
    start();
    CHECK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(first == numbers(1, eager));
    CHECK(second == numbers(2, eager));
    send_third(first);
}

// Polls that found nothing are not answered either, though the program has made as many before.
HAZARD(divergence_stops_the_answers_to_polls) {
    if (world_rank() == 1) {
        be_the_other();
        return;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    Numbers buffer = numbers(9, eager);
    {
        Domain domain;
        domain.keep(buffer);
        const auto poll = [] {
            int flag = 0;
            return MPI_Iprobe(0, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        };
        const auto poll_twice = [&] {
            CHECK(poll() == MPI_SUCCESS);
            CHECK(poll() == MPI_SUCCESS);
        };
        poll_twice();
        CHECK(receive_first(buffer) == MPI_SUCCESS);
        domain.restore();
        CHECK(poll() == MPI_SUCCESS);
        {
            const Complaints complaints;
            CHECK(receive_second(buffer) != MPI_SUCCESS);
            CHECK(poll() != MPI_SUCCESS);
        }
        domain.restore();
        poll_twice();
        CHECK(receive_first(buffer) == MPI_SUCCESS);
    }
    CHECK(receive_second(buffer) == MPI_SUCCESS);
    CHECK(send_third(buffer) == MPI_SUCCESS);
}

// Forgetting the log ends the replay: the calls are MPI's again.
HAZARD(divergence_is_over_when_the_log_is_forgotten) {
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    const Domain domain;
    const auto reduce = [](MPI_Op operation) {
        const int one = 1;
        int all = 0;
        return MPI_Allreduce(&one, &all, 1, MPI_INT, operation, MPI_COMM_SELF);
    };
    CHECK(reduce(MPI_SUM) == MPI_SUCCESS);
    CHECK(reduce(MPI_SUM) == MPI_SUCCESS);
    CHECK(restore_cd(domain.handle()) == SUCCESS);
    {
        const Complaints complaints;
        CHECK(reduce(MPI_MAX) != MPI_SUCCESS);
        CHECK(reduce(MPI_SUM) != MPI_SUCCESS);
    }
    CHECK(delete_MPI_log_from_cd(domain.handle()) == SUCCESS);
    CHECK(reduce(MPI_SUM) == MPI_SUCCESS);
}

// CD_ON_DIVERGENCE=live: the log ends there, and the call is made.
HAZARD(divergence_goes_on_live) {
    if (world_rank() == 1) {
        be_the_other();
        return;
    }
    setenv("CD_ON_DIVERGENCE", "live", 1);
    Numbers buffer = numbers(9, eager);
    Domain domain;
    domain.keep(buffer);
    receive_first(buffer);
    domain.restore();
    {
        Complaints complaints;
        receive_second(buffer);
        CHECK(complaints.name("going on live"));
    }
    CHECK(buffer == numbers(2, eager));
    CHECK(!domain.info().replaying);
    send_third(buffer);
    domain.restore();
    send_third(buffer);
}

namespace {

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

// CD_ON_DIVERGENCE=abort: even if errors return.
HAZARD(divergence_aborts) {
    if (world_rank() == 1) {
        be_the_other();
        await(0);
        return;
    }
    setenv("CD_ON_DIVERGENCE", "abort", 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    Numbers buffer = numbers(9, eager);
    Domain domain;
    domain.keep(buffer);
    receive_first(buffer);
    domain.restore();
    receive_second(buffer);
    std::fprintf(stderr, "still alive\n");
    send_third(buffer);
    signal(1);
}

// MPI's own default handler ends the program when the call fails.
HAZARD(divergence_is_fatal_by_default) {
    if (world_rank() == 1) {
        be_the_other();
        await(0);
        return;
    }
    Numbers buffer = numbers(9, eager);
    Domain domain;
    domain.keep(buffer);
    receive_first(buffer);
    domain.restore();
    receive_second(buffer);
    std::fprintf(stderr, "still alive\n");
    send_third(buffer);
    signal(1);
}

} // namespace divergence
