// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "steps.h"

#include <cstring>

namespace {

Part part_in(const Step &step, int number, State &state, const Between &between) {
    const bool on_its_comm = step.kind != Step::Kind::make_comm;
    const MPI_Comm comm = state.comms[on_its_comm ? step.comm : 0];
    int rank = 0;
    int size = 0;
    int world_rank = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(state.comms[0], &world_rank);
    return {step,
            number,
            state,
            comm,
            rank,
            size,
            Random(step.seed),
            Random(mix(step.seed, static_cast<uint64_t>(world_rank))),
            between,
            {}};
}

} // namespace

Received do_step(const Step &step, int number, State &state, const Between &between) {
    Part part = part_in(step, number, state, between);
    switch (step.kind) {
    case Step::Kind::batch:
        do_batch(part);
        break;
    case Step::Kind::any_source:
        do_any_source(part);
        break;
    case Step::Kind::collective:
        do_collective(part);
        break;
    case Step::Kind::exchange:
        do_exchange(part);
        break;
    case Step::Kind::start:
        start(part);
        break;
    case Step::Kind::start_collective:
        start_collective(part);
        break;
    case Step::Kind::init:
        init(part);
        break;
    case Step::Kind::start_again:
        start_again(part);
        break;
    case Step::Kind::finish:
        finish(part);
        break;
    case Step::Kind::free_persistent:
        free_persistent(part);
        break;
    case Step::Kind::make_comm:
        make_comm(part);
        break;
    case Step::Kind::free_comm:
        MPI_Comm_free(&state.comms[step.comm]);
        break;
    case Step::Kind::look_at_clock: {
        const double now = MPI_Wtime();
        std::memcpy(&part.received.in_this_order, &now, sizeof now);
        break;
    }
    case Step::Kind::use_objects:
        use_objects(part);
        break;
    case Step::Kind::change_attribute:
        change_attribute(part);
        break;
    case Step::Kind::make_window:
        make_window(part);
        break;
    case Step::Kind::use_window:
        use_window(part);
        break;
    case Step::Kind::free_window:
        free_window(part);
        break;
    case Step::Kind::run_siblings:
        run_siblings(part);
        break;
    }
    return part.received;
}
