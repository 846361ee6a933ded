// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "data.h"

// The parts of do_step().

// The state that a rank's part in a step needs.
struct Part {
    const Step &step;
    int number; // of the step, in its messages' tags
    State &state;
    MPI_Comm comm;
    int rank; // in comm
    int size;
    Random common; // decides the same on all ranks
    Random own;
    const Between &between;
    Received received;

    // A place at which the rank may fail.
    void pause() { between(received); }
    int tag(int k) const { return number * 8 + k; }
};

// Completes all of them, in one of the ways that MPI has. Statuses are those of the requests.
void complete(Part &part, std::vector<MPI_Request> &requests, std::vector<MPI_Status> &statuses);

void do_batch(Part &part);
void do_any_source(Part &part);
void do_exchange(Part &part);
void do_collective(Part &part);
void make_comm(Part &part);

void use_objects(Part &part);
void change_attribute(Part &part);
void make_window(Part &part);
void use_window(Part &part);
void free_window(Part &part);

void run_siblings(Part &part);

void start(Part &part);
void start_collective(Part &part);
void init(Part &part);
void start_again(Part &part);
void finish(Part &part);
void free_persistent(Part &part);
