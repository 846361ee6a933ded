// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Logs that end with polls that found nothing: a program that counts them counts as many when it is
// executed again, and again.
#include "cd/mpi_log.h"
#include "counted_polls.h"
#include "window.h"

namespace polls_in_vain {

namespace {

constexpr int tag = 1;

void send_when_told() {
    go_on_when_told([] { send(numbers(1, eager), 0, tag); });
}

void receive_by(const std::function<bool(MPI_Request &)> &poll) {
    if (world_rank() == 1) {
        send_when_told();
        return;
    }
    Numbers buffer = numbers(9, eager);
    MPI_Request request = MPI_REQUEST_NULL;
    Domain domain;
    domain.keep(buffer);
    finds_nothing_as_often(
        domain,
        {[&] { MPI_Irecv(buffer.data(), eager, MPI_INT, 1, tag, MPI_COMM_WORLD, &request); },
         [&] { return poll(request); },
         [&] {
             MPI_Wait(&request, MPI_STATUS_IGNORE);
             CHECK(buffer == numbers(1, eager));
         }});
}

bool probe() {
    int found = 0;
    MPI_Iprobe(1, tag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    return found != 0;
}

void take_probed() { CHECK(receive(eager, 1, tag) == numbers(1, eager)); }

} // namespace

HAZARD(log_ends_with_tests_in_vain) {
    using Poll = int (*)(MPI_Request &);
    static int index = 0;
    static int flag = 0;
    const Poll polls[] = {
        [](MPI_Request &r) { return MPI_Test(&r, &flag, MPI_STATUS_IGNORE); },
        [](MPI_Request &r) { return MPI_Testany(1, &r, &index, &flag, MPI_STATUS_IGNORE); },
        [](MPI_Request &r) { return MPI_Testall(1, &r, &flag, MPI_STATUSES_IGNORE); },
        [](MPI_Request &r) { return MPI_Testsome(1, &r, &flag, &index, MPI_STATUSES_IGNORE); },
        [](MPI_Request &r) { return MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE); }};
    for (const Poll poll : polls) {
        receive_by([poll](MPI_Request &request) {
            CHECK(poll(request) == MPI_SUCCESS);
            return flag != 0;
        });
    }
}

HAZARD(log_ends_with_probes_in_vain) {
    if (world_rank() == 1) {
        send_when_told();
        return;
    }
    Domain domain;
    finds_nothing_as_often(domain, {[] {}, probe, take_probed});
}

HAZARD(log_ends_with_matched_probes_in_vain) {
    if (world_rank() == 1) {
        send_when_told();
        return;
    }
    MPI_Message message = MPI_MESSAGE_NULL;
    Domain domain;
    finds_nothing_as_often(
        domain, {[] {},
                 [&] {
                     int found = 0;
                     MPI_Improbe(1, tag, MPI_COMM_WORLD, &found, &message, MPI_STATUS_IGNORE);
                     return found != 0;
                 },
                 [&] {
                     Numbers buffer(eager);
                     MPI_Mrecv(buffer.data(), eager, MPI_INT, &message, MPI_STATUS_IGNORE);
                     CHECK(buffer == numbers(1, eager));
                 }});
}

HAZARD(log_ends_with_tests_of_a_window_in_vain) {
    Numbers exposed = numbers(9, eager);
    MPI_Win window = window_over(exposed);
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Group other = MPI_GROUP_NULL;
    const int other_rank = 1 - world_rank();
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &other_rank, &other);
    if (world_rank() == 1) {
        const Numbers written = numbers(1, eager);
        go_on_when_told([&] {
            MPI_Win_start(other, 0, window);
            put(written, 0, 0, window);
            MPI_Win_complete(window);
        });
    } else {
        Domain domain;
        domain.keep(exposed);
        finds_nothing_as_often(domain, {[&] { MPI_Win_post(other, 0, window); },
                                        [&] {
                                            int flag = 0;
                                            MPI_Win_test(window, &flag);
                                            return flag != 0;
                                        },
                                        [&] { CHECK(exposed == numbers(1, eager)); }});
    }
    MPI_Group_free(&other);
    MPI_Group_free(&world);
    MPI_Win_free(&window);
}

// A program that has polled less often goes on: what it does next counts, not the polls left over.
HAZARD(polls_left_over_end_with_the_next_call) {
    if (world_rank() == 1) {
        send_on_signal(numbers(1, eager), tag);
        signal(0);
        return;
    }
    Domain domain;
    for (int i = 0; i < polls_in_log; ++i) {
        CHECK(!probe());
    }
    for (int execution = 0; execution < 2; ++execution) {
        domain.restore();
        CHECK(!probe());
        signal(1);
        await(1);
        CHECK(probe());
        take_probed();
    }
}

// The same where it is the log that the program forgets.
HAZARD(polls_left_over_end_with_the_log) {
    if (world_rank() == 1) {
        send_on_signal(numbers(1, eager), tag);
        signal(0);
        return;
    }
    Domain domain;
    for (int i = 0; i < polls_in_log; ++i) {
        CHECK(!probe());
    }
    domain.restore();
    let_rank_1_go_on();
    CHECK(!probe());
    CHECK(delete_MPI_log_from_cd(domain.handle()) == SUCCESS);
    CHECK(probe());
    take_probed();
}

} // namespace polls_in_vain
