// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// A program that does something else than the log.
#include "cd/mpi_log.h"
#include "complaints.h"
#include "hazard.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
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

int receive_first(Numbers &buffer) {
    return MPI_Recv(buffer.data(), eager, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int receive_second(Numbers &buffer) {
    return MPI_Recv(buffer.data(), eager, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int send_third(const Numbers &data) {
    return MPI_Send(data.data(), static_cast<int>(data.size()), MPI_INT, 1, 3, MPI_COMM_WORLD);
}

using Call = std::function<int(Numbers &)>;

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
    if (std::strstr(log_has, "send") == nullptr && std::strstr(log_has, "Send") == nullptr) {
        CHECK(send_third(buffer) == MPI_SUCCESS);
    } else {
        CHECK(receive(eager, 1, 2) == numbers(2, eager));
    }
}

} // namespace

HAZARD(divergence_another_function) {
    refuses(
        receive_second, [](Numbers &buffer) { return send_third(buffer); }, "MPI_Recv", "MPI_Send");
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
    static const auto start = [](int seed) {
        const Numbers data = numbers(seed, eager);
        MPI_Request request = MPI_REQUEST_NULL;
        const int result = MPI_Isend(data.data(), eager, MPI_INT, 1, 3, MPI_COMM_WORLD, &request);
        return result == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : result;
    };
    refuses([](Numbers &) { return start(5); }, [](Numbers &) { return start(6); }, "MPI_Isend",
            "MPI_Isend");
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

// A new point in time would be where every call fails: there has to be a way back.
HAZARD(divergence_forbids_to_advance) {
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    Numbers data = numbers(1, eager);
    Domain domain;
    domain.keep(data);
    const auto reduce = [](MPI_Op operation) {
        const int one = 1;
        int all = 0;
        return MPI_Allreduce(&one, &all, 1, MPI_INT, operation, MPI_COMM_SELF);
    };
    const auto diverge = [&] {
        const Complaints complaints;
        domain.restore();
        CHECK(reduce(MPI_MAX) != MPI_SUCCESS);
        set(data, numbers(2, eager));
        CHECK(advance_cd_point_in_time(domain.handle()) != SUCCESS);
        CHECK(std::strstr(cd_last_error_message(), "something else than the log") != nullptr);
        CHECK(std::strstr(cd_last_error_message(), "delete_MPI_log_from_cd") != nullptr);
        CHECK(reduce(MPI_SUM) != MPI_SUCCESS);
    };
    CHECK(reduce(MPI_SUM) == MPI_SUCCESS);
    diverge();
    domain.restore();
    CHECK(data == numbers(1, eager));
    CHECK(reduce(MPI_SUM) == MPI_SUCCESS);
    diverge();
    CHECK(delete_MPI_log_from_cd(domain.handle()) == SUCCESS);
    CHECK(reduce(MPI_SUM) == MPI_SUCCESS); // MPI makes the calls again
    domain.advance();
    CHECK(reduce(MPI_MAX) == MPI_SUCCESS);
}

namespace {

void is_the_end() {
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

} // namespace

// CD_ON_DIVERGENCE=abort: even if errors return.
HAZARD(divergence_aborts) {
    setenv("CD_ON_DIVERGENCE", "abort", 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    is_the_end();
}

// MPI's own default handler ends the program when the call fails.
HAZARD(divergence_is_fatal_by_default) { is_the_end(); }

} // namespace divergence
