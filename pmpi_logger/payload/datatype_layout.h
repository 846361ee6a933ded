// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <mpi.h>

namespace cd::logger {

struct DatatypeFacts;

// The basic types of a datatype, and how they lie in memory.
struct DatatypeLayout {
    // Identifies the sequence of basic types in one element. All types that MPI lets match have the
    // same one; a basic type has its handle.
    uint64_t signature = 0;
    // True if the data lie in memory in the order in which MPI sends them, element after element.
    bool in_order = false;
    // True if some basic types have padding bytes, which nobody writes.
    bool padded = false;
};

// Returns the layout of `type`, whose facts are `facts`. Asks MPI at the first use of the type.
// Thread-safe.
DatatypeLayout layout_of(MPI_Datatype type, const DatatypeFacts &facts);

// Returns whether `type` is predefined and must not be freed.
bool is_basic(MPI_Datatype type);

// Returns how many types `type` was made of.
size_t count_parts(MPI_Datatype type);

// Forgets `type`, which is about to be freed: its handle may be given to another type.
void forget_layout(MPI_Datatype type);

} // namespace cd::logger
