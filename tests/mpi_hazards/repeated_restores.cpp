// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Restores during a replay, at each step of a run, and on several ranks at once.
#include "hazard.h"

namespace repeated_restores {

namespace {

// A piece of work that talks to the ranks beside it: point to point, collective, and pending from
// one step to the next.
class Ring {
public:
    static constexpr int steps = 12;

    Ring() : state_(numbers(world_rank(), eager)), incoming_(numbers(99, eager)) {}

    void keep(Domain &domain) {
        domain.keep(state_);
        domain.keep(incoming_);
    }

    // Steps 0 to last.
    void run(int last) {
        const int next = (world_rank() + 1) % world_size();
        const int previous = (world_rank() + world_size() - 1) % world_size();
        MPI_Request request = MPI_REQUEST_NULL;
        for (int step = 0; step < last; ++step) {
            switch (step % 4) {
            case 0:
                MPI_Irecv(incoming_.data(), eager, MPI_INT, previous, step, MPI_COMM_WORLD,
                          &request);
                break;
            case 1:
                MPI_Send(state_.data(), eager, MPI_INT, next, step - 1, MPI_COMM_WORLD);
                break;
            case 2:
                MPI_Wait(&request, MPI_STATUS_IGNORE);
                mix(incoming_);
                break;
            default:
                Numbers sums(eager);
                MPI_Allreduce(state_.data(), sums.data(), eager, MPI_INT, MPI_BXOR, MPI_COMM_WORLD);
                mix(sums);
                break;
            }
        }
    }

    void destroy_all() {
        destroy(state_);
        // While MPI may write to it, a failure that wrote to it could not be undone.
    }

    const Numbers &state() const { return state_; }

private:
    void mix(const Numbers &data) {
        for (size_t i = 0; i < eager; ++i) {
            state_[i] = static_cast<int>(static_cast<unsigned>(state_[i]) * 31U +
                                         static_cast<unsigned>(data[i]));
        }
    }

    Numbers state_;
    Numbers incoming_;
};

// What comes out if nobody fails.
Numbers undisturbed() {
    Ring ring;
    ring.run(Ring::steps);
    return ring.state();
}

void fail(Ring &ring, Domain &domain) {
    ring.destroy_all();
    domain.restore();
}

} // namespace

HAZARD(restore_in_the_middle_of_each_replay) {
    const Numbers expected = undisturbed();
    Ring ring;
    Domain domain;
    ring.keep(domain);
    ring.run(Ring::steps - 1);
    if (world_rank() == 0) {
        for (int last = Ring::steps - 1; last > 0; --last) {
            fail(ring, domain);
            ring.run(last);
            CHECK((domain.info().replaying != 0) == (last < Ring::steps - 1));
        }
    }
    fail(ring, domain);
    ring.run(Ring::steps);
    CHECK(ring.state() == expected);
    fail(ring, domain);
    ring.run(Ring::steps);
    CHECK(ring.state() == expected);
}

HAZARD(all_ranks_restore_at_once) {
    const Numbers expected = undisturbed();
    Ring ring;
    Domain domain;
    ring.keep(domain);
    for (int last = 1; last <= Ring::steps; ++last) {
        ring.run(last);
        fail(ring, domain);
    }
    ring.run(Ring::steps);
    CHECK(ring.state() == expected);
}

HAZARD(ranks_restore_at_different_steps) {
    const Numbers expected = undisturbed();
    Ring ring;
    Domain domain;
    ring.keep(domain);
    for (int last = 1; last <= Ring::steps; ++last) {
        if (last % world_size() == world_rank() || last % 5 == 0) {
            ring.run(last);
            fail(ring, domain);
        }
    }
    ring.run(Ring::steps);
    CHECK(ring.state() == expected);
}

} // namespace repeated_restores
