// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Polls in vain that a thread has still to be told of, while others go on.
#include "hazard.h"

#include <thread>

namespace polls_in_threads {

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
