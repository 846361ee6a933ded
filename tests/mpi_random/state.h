// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "plan.h"

#include <cstdint>
#include <mpi.h>

constexpr int longest = 5000; // more than any MPI's eager limit

struct SlotState {
    enum class Use { none, send, receive, late_receive, collective };
    Use use;
    MPI_Request request;
    bool protect;         // MPI has its data, and nothing protects them from a failure
    bool forbids_restore; // a persistent send, which has no shadow, is under way
    int peer;
    int tag;
    int count;
    int data[longest];
};

// All that a program keeps from step to step. CDs preserve it, failures destroy it.
struct State {
    uint64_t hash; // of all that was received
    MPI_Comm comms[::comms];
    SlotState slots[::slots];
};

// What a step has received. A re-execution has to receive it in the same way; another run of the
// program may do so in another order.
struct Received {
    uint64_t in_this_order = 0;
    uint64_t in_any_order = 0;
};

// This rank's part of a step.
Received do_step(const Step &step, int number, State &state);
