// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What a thread's going live leaves for others goes when nobody can come for it.
#include "complaints.h"
#include "receives.h"
#include "told_thread.h"

#include <cstdlib>
#include <malloc.h>
#include <optional>

namespace left_behind {

namespace {

constexpr size_t large = 25000; // numbers
constexpr int lives = 20;

size_t in_use() {
    const struct mallinfo2 now = mallinfo2(); // of the thread that goes live
    return now.uordblks + now.hblkhd;
}

// Another call than that of the execution before the last, which the log has.
void differ(int execution) {
    if ((execution + 1) / 2 % 2 == 0) {
        MPI_Barrier(MPI_COMM_SELF);
    } else {
        int number = 0;
        MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_SELF);
    }
}

// Every other execution goes on live beside the thread, which does not come for its message then.
void execute(Domain &parent, ToldThread &thread, Numbers &buffer, int execution) {
    std::optional<Domain> child;
    MPI_Request request = MPI_REQUEST_NULL;
    thread([&] {
        child.emplace(parent.handle());
        request = post_receive(buffer, 1, 1);
    });
    {
        const Complaints expected;
        differ(execution);
    }
    thread([&] {
        if (execution % 2 == 0) {
            CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
            CHECK(buffer == numbers(1, large));
        }
        child.reset();
    });
}

// in_a_domain() gets what executes once, and whether it is to be restored behind it.
template <typename InDomains> void stays_small(const InDomains &in_domains) {
    setenv("CD_ON_DIVERGENCE", "live", 1);
    if (world_rank() == 1) {
        for (int i = 0; i < 2 * lives; ++i) {
            send(numbers(1, large), 0, 1);
        }
        return;
    }
    Numbers buffer = numbers(before_anything, large);
    ToldThread thread;
    in_domains(thread, buffer);
    const size_t before = in_use();
    in_domains(thread, buffer);
    CHECK(in_use() < before + lives * large * sizeof buffer[0] / 2);
}

} // namespace

HAZARD_IN_THREADS(what_is_left_behind_goes_when_the_domain_is_restored) {
    std::optional<Domain> parent;
    int execution = 0;
    stays_small([&](ToldThread &thread, Numbers &buffer) {
        if (!parent) {
            parent.emplace();
        }
        for (int i = 0; i < 2 * lives; ++i) {
            execute(*parent, thread, buffer, execution++);
            parent->restore();
        }
    });
}

HAZARD_IN_THREADS(what_is_left_behind_goes_when_the_domain_ends) {
    stays_small([](ToldThread &thread, Numbers &buffer) {
        for (int i = 0; i < lives; ++i) {
            Domain parent;
            execute(parent, thread, buffer, 0);
            parent.restore();
            execute(parent, thread, buffer, 1);
        }
    });
}

} // namespace left_behind
