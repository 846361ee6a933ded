// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstdint>
#include <vector>

constexpr int slots = 5;
constexpr int comms = 4; // the first is the world

// What all ranks do together, each its part. Further decisions come from the seed.
struct Step {
    enum class Kind {
        batch,      // messages that begin and end here
        any_source, // all send to one, which takes them as they come
        collective,
        exchange, // MPI_Sendrecv
        start,    // a message under way in a slot
        start_collective,
        init, // a persistent message in a slot
        start_again,
        finish, // some slots
        free_persistent,
        make_comm,
        free_comm,
        look_at_clock,
        use_objects,
        change_attribute,
        make_window,
        use_window,
        free_window,
        run_siblings // in threads
    };
    Kind kind;
    uint64_t seed;
    int comm;
    int slot;
    unsigned mask; // of slots to finish
};

// What one rank does: the steps, and its own CDs and failures among them.
struct Operation {
    enum class Kind { step, open, close, advance, fail };
    Kind kind;
    int step;
    int level; // of the CD that is restored
    int visit; // at which the failure happens: in a re-execution, perhaps
    int point; // of a step at which it happens; 0 if it does not
};

enum class Plan {
    plain,
    with_siblings,
    of_a_sibling // without what is one for the process
};

std::vector<Step> plan_of(uint64_t seed, Plan plan);
// outer: how many CDs there are around them.
std::vector<Operation> operations_of(uint64_t seed, int rank, int step_count, int outer);
