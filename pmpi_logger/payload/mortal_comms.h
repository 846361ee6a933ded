// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/word.h"
#include "payload/comm_facts.h"
#include "payload/handle_filter.h"

#include "cd/mpi_log.h"

#include <atomic>
#include <cstdint>
#include <mpi.h>
#include <optional>

namespace cd::logger {

// A communicator that MPI may know no more when a replay uses it. Stands in logs.
struct Mortal {
    MPI_Comm comm = MPI_COMM_NULL;
    CommFacts facts;
    int number = 0;                               // in the order in which they were made
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL; // of one that is freed, as the replay has it
    cd_log_place made = {};                       // not of one that is known late
    cd_log_place freed_at = {};                   // of one that is freed
    bool freed = false;                           // MPI knows it no more
    bool known_late = false; // when it was freed: what was asked of it before is not recorded
};

// What there is to know of these: their facts are here, and what the program asks of them is
// recorded. The handle of a freed one means that one to threads whose CD lies in the one that was
// restored, and to others what MPI says. Thread-safe; most other handles take no lock.
class MortalComms {
public:
    static bool may_have(MPI_Comm comm) {
        return count_.load(std::memory_order_relaxed) != 0 && handles_.may_have(word_of(comm));
    }
    static bool has(MPI_Comm comm);
    // Valid until the thread asks for another communicator. nullptr if it is none.
    static const CommFacts *facts_of(MPI_Comm comm);

    // One is made, or a replay creates it: that may have been put back as freed.
    static void add(const Mortal &mortal);
    // The program frees it, if it is one.
    static std::optional<Mortal> take(MPI_Comm comm);
    // A restore goes back to when the program had it; MPI may have freed it.
    static void put_back(const Mortal &mortal);
    // A restore has ended.
    static void restored(cd_handle cd);
    // Nobody can want it any more.
    static void remove(const Mortal &mortal);

    static bool is_freed(MPI_Comm comm);
    // The freed one that had this handle in Fortran. MPI_COMM_NULL if there is none.
    static MPI_Comm find_freed(MPI_Fint in_fortran);

    static bool is_known_late(MPI_Comm comm);

    // Of a freed one.
    static MPI_Errhandler handler_of(MPI_Comm comm);
    static void set_handler(MPI_Comm comm, MPI_Errhandler handler);

private:
    static void insert(const Mortal &mortal);
    static void erase(int number);

    static inline std::atomic<int> count_ = 0;
    static inline constinit HandleFilter handles_;
    static inline constinit HandleFilter fortran_numbers_;
};

} // namespace cd::logger
