// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Polls in vain that a thread has still to be told of, while others go on.
#include "hazard.h"
#include "told_thread.h"

#include <optional>
#include <thread>

namespace polls_in_threads {

// A thread that has polls left to be answered does not know that another one restores its domain.
HAZARD_IN_THREADS(polls_begin_anew_when_another_thread_restores) {
    if (world_rank() == 1) {
        send_on_signal(numbers(1, eager), 1);
        signal(0);
        return;
    }
    constexpr int in_vain = 3;
    const auto finds = [] {
        int found = 0;
        MPI_Iprobe(1, 1, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        return found != 0;
    };
    const auto count = [&] {
        int polls = 0;
        while (!finds()) {
            ++polls;
        }
        CHECK(receive(eager, 1, 1) == numbers(1, eager));
        return polls;
    };
    std::optional<Domain> domain;
    ToldThread polls;
    polls([&] {
        domain.emplace();
        for (int i = 0; i < in_vain; ++i) {
            CHECK(!finds());
        }
    });
    signal(1);
    await(1);
    int further = 0;
    polls([&] { further = count(); });
    domain->restore();
    polls([&] { CHECK(!finds()); });
    domain->restore();
    polls([&] {
        CHECK(count() == in_vain + further);
        domain.reset();
    });
}

// A root whose log ends with what need not be done again advances, although another thread's child
// has gone on meanwhile.
HAZARD_IN_THREADS(root_advances_although_polls_and_clocks_are_left_unread) {
    const auto exchange = [](int tag) {
        const int sent = tag;
        int received = 0;
        MPI_Sendrecv(&sent, 1, MPI_INT, 0, tag, &received, 1, MPI_INT, 0, tag, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
        CHECK(received == tag);
    };
    Domain domain;
    const auto run = [&](bool first) {
        MPI_Barrier(MPI_COMM_SELF);
        if (first) {
            int found = 0;
            MPI_Iprobe(0, 1, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
            CHECK(!found);
            MPI_Wtime();
        }
        std::thread([&] {
            const Domain child(domain.handle());
            exchange(1);
            if (!first) {
                exchange(2);
            }
        }).join();
    };
    run(true);
    domain.restore();
    run(false);
    domain.advance();
}

} // namespace polls_in_threads
