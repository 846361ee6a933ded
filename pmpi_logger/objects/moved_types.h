// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <atomic>
#include <cstdint>
#include <mpi.h>

namespace cd::logger {

// Types of absolute addresses that a re-execution builds differently, as its memory lies elsewhere.
// The log names them by the handles of the first execution. Thread-safe.
class MovedTypes {
public:
    // Returns the handle that the log uses for `type`: for most types their own.
    static MPI_Datatype recorded(MPI_Datatype type) { return any() ? look_up(type) : type; }

    // Returns the unique number of a moved type, 0 for all others.
    static uint64_t number_of(MPI_Datatype type);

    // Notes that the log calls `made` `recorded`. Returns its number.
    static uint64_t add(MPI_Datatype made, MPI_Datatype recorded);

    // Removes a type before MPI frees it. `made` is MPI_DATATYPE_NULL if it is gone already.
    struct Pair {
        MPI_Datatype made = MPI_DATATYPE_NULL;
        MPI_Datatype recorded = MPI_DATATYPE_NULL;
    };
    static Pair take(uint64_t number);

    // Must be called before the type is freed that the log calls `recorded`. Returns the number of
    // the type that stands for it, or 0.
    static uint64_t recorded_is_freed(MPI_Datatype recorded);

    static bool any() { return count_.load(std::memory_order_relaxed) != 0; }

private:
    static MPI_Datatype look_up(MPI_Datatype type);

    static inline std::atomic<size_t> count_ = 0;
};

} // namespace cd::logger
