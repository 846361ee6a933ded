// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Threads that have no domain, beside one that has: what they call goes to MPI, in a re-execution,
// too.
#include "complaints.h"
#include "hazard.h"

#include <string>
#include <thread>

namespace bystanders {

namespace {

template <typename Work> void in_a_thread(const Work &work) { std::thread(work).join(); }

void send_it() { send(numbers(1, eager), 1, 1); }

void receive_times(int sends) {
    for (int i = 0; i < sends; ++i) {
        CHECK(receive(eager, 0, 1) == numbers(1, eager));
    }
}

int rank_in_a_thread() {
    int rank = -1;
    in_a_thread([&] { MPI_Comm_rank(MPI_COMM_WORLD, &rank); });
    return rank;
}

} // namespace

HAZARD_IN_THREADS(thread_without_a_domain_that_sends_in_a_replay_is_told_of) {
    if (world_rank() == 1) {
        receive_times(5);
        return;
    }
    Complaints complaints;
    Domain domain;
    const auto call_in_domain = [] { MPI_Barrier(MPI_COMM_SELF); };
    in_a_thread(send_it);
    call_in_domain();
    CHECK(complaints.text().empty());
    domain.restore();
    CHECK(rank_in_a_thread() == 0);
    CHECK(complaints.text().empty()); // of what stays here
    in_a_thread(send_it);
    CHECK(complaints.name("rank 0: a thread without a CD calls MPI_Send while"));
    const std::string once = complaints.text();
    in_a_thread(send_it);
    call_in_domain();
    in_a_thread(send_it);
    domain.restore();
    in_a_thread(send_it);
    call_in_domain();
    CHECK(complaints.text() == once);
}

// Nor is one told of that has a domain of its own, or that sends when the replay is over.
HAZARD_IN_THREADS(threads_that_repeat_nothing_are_not_told_of) {
    if (world_rank() == 1) {
        receive_times(3);
        return;
    }
    Complaints complaints;
    Domain domain;
    const auto execute = [&] {
        in_a_thread([&] {
            const Domain own(domain.handle());
            send_it();
        });
        MPI_Barrier(MPI_COMM_SELF);
        in_a_thread(send_it);
    };
    execute();
    domain.restore();
    execute();
    CHECK(complaints.text().empty());
}

} // namespace bystanders
