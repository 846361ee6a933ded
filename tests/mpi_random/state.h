// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "plan.h"

#include "cd/cd.h"

#include <cstdint>
#include <functional>
#include <mpi.h>

constexpr int exposed = 60;
constexpr int longest = 5000; // more than any MPI's eager limit

struct SlotState {
    enum class Use { none, send, receive, late_receive, collective };
    Use use;
    MPI_Request request;
    bool protect; // MPI has its data, and nothing protects them from a failure
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
    cd_handle domain; // the innermost, if there is one
    int key;          // of attributes
    MPI_Win window;
    int exposed[::exposed];
};

// What a step has received. A re-execution has to receive it in the same way; another run of the
// program may do so in another order.
struct Received {
    uint64_t in_this_order = 0;
    uint64_t in_any_order = 0;
};

// Called in a step between its calls of MPI, with what it has received so far.
using Between = std::function<void(const Received &received)>;

// This rank's part of a step.
Received do_step(const Step &step, int number, State &state, const Between &between);
