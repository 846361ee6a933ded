// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <atomic>
#include <cstdint>
#include <mpi.h>

namespace cd::logger {

// Types of a re-execution that are not those of the log, since they describe memory by its address
// and that lies elsewhere now. In the log they go by the names of the first execution. Thread-safe.
class MovedTypes {
public:
    // The handle that stands in the log, which most types have themselves.
    static MPI_Datatype recorded(MPI_Datatype type) { return none() ? type : look_up(type); }

    // A name for it that no other one ever has; 0 if it is none.
    static uint64_t number_of(MPI_Datatype type);

    // made is what the log calls recorded. Returns its number.
    static uint64_t add(MPI_Datatype made, MPI_Datatype recorded);

    // It is about to be freed. made is MPI_DATATYPE_NULL if it has been.
    struct Pair {
        MPI_Datatype made = MPI_DATATYPE_NULL;
        MPI_Datatype recorded = MPI_DATATYPE_NULL;
    };
    static Pair take(uint64_t number);

    // A re-execution has come to where the program frees it, or a restore goes back to before that.
    // It stays: another restore may go back to between the two.
    static void set_freed(uint64_t number, bool freed);

    // What the log called by this name is about to be freed. What was made for it stays, unless the
    // program has freed that: then its number is returned, else 0.
    static uint64_t recorded_goes(MPI_Datatype recorded);

private:
    static bool none() { return count_.load(std::memory_order_relaxed) == 0; }
    static MPI_Datatype look_up(MPI_Datatype type);

    static inline std::atomic<size_t> count_ = 0;
};

} // namespace cd::logger
