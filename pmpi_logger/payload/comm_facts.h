// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <atomic>
#include <cstdint>
#include <mpi.h>
#include <optional>

namespace cd::logger {

// What decides which bytes a collective operation brings to this rank.
struct CommFacts {
    int rank = 0;
    int size = 0; // of this rank's group
    int remote_size = 0;
    int inter = 0; // between two groups
    int neighbors_in = 0;
    int neighbors_out = 0;
    uint64_t absent_neighbors = 0; // a bit for each of the first 64 that is MPI_PROC_NULL
    MPI_Fint in_fortran = 0;       // the handle there
    int number = 0;                // of mortal ones, in the order in which they were made
};

// Remembered from call to call. Valid until the thread asks for another communicator.
const CommFacts &comm_facts_of(MPI_Comm comm);

// A communicator has been freed; its handle may come to mean another one.
void forget_comm_facts();

// One that MPI may know no more when a replay uses it. Stands in logs.
struct Mortal {
    MPI_Comm comm = MPI_COMM_NULL;
    CommFacts facts;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL; // of one that is freed, as the replay has it
    uint64_t family = 0;                          // of one that is freed: of the log with that call
    bool freed = false;                           // MPI knows it no more
    bool known_late = false; // when it was freed: what was asked of it before is not recorded
};

// What there is to know of these: their facts are here, and what the program asks of them is
// recorded. To threads with other roots, or with none, the handle of a freed one means what MPI
// says. Thread-safe.
class MortalComms {
public:
    static bool none() { return count_.load(std::memory_order_relaxed) == 0; }
    static bool has(MPI_Comm comm);

    // One is made, or a replay creates it: that may have been put back as freed.
    static void add(const Mortal &mortal);
    // The program frees it, if it is one.
    static std::optional<Mortal> take(MPI_Comm comm);
    // A restore goes back to when the program had it; MPI may have freed it.
    static void put_back(const Mortal &mortal);
    // Nobody can want it any more.
    static void remove(const Mortal &mortal);

    static bool is_freed(MPI_Comm comm);
    // The freed one that had this handle in Fortran. MPI_COMM_NULL if there is none.
    static MPI_Comm find_freed(MPI_Fint in_fortran);

    // There has to be one.
    static bool is_known_late(MPI_Comm comm);

    // Of a freed one.
    static MPI_Errhandler handler_of(MPI_Comm comm);
    static void set_handler(MPI_Comm comm, MPI_Errhandler handler);

private:
    static void changed();

    static inline std::atomic<int> count_ = 0;
};

} // namespace cd::logger
