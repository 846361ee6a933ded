// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <mpi.h>

// The functions that are measured. The program is linked with the logger, so it can call each of
// them through the logger and past it, in turns, in one process.
struct Calls {
    decltype(&MPI_Comm_rank) comm_rank;
    decltype(&MPI_Send) send;
    decltype(&MPI_Recv) recv;
    decltype(&MPI_Isend) isend;
    decltype(&MPI_Irecv) irecv;
    decltype(&MPI_Waitall) waitall;
    decltype(&MPI_Allreduce) allreduce;
    decltype(&MPI_Barrier) barrier;
};

// What the program gets when it says MPI_Send.
Calls through_logger();

// MPI's own. Ends the program if the logger does not take the functions over: nothing would be
// measured.
Calls past_logger();

// The same, each behind a function that does nothing but jump there: what anything costs that takes
// MPI over, if it does nothing else.
Calls past_empty_wrappers();

// MPI's own, and whoever receives copies what has come to memory of its own, which is used again
// and again: what anybody who keeps it pays.
Calls past_logger_and_copied();

// How long one of the copies alone has taken, on the average since it was asked last.
double seconds_of_copy_of_what_came();
