// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "payload/datatype_layout.h"
#include "payload/handle_cache.h"

#include <cstdint>
#include <mpi.h>

namespace cd::logger {

// As much as a line of the caches has, with the handle.
struct DatatypeFacts {
    uint64_t signature = 0; // as that of DatatypeLayout
    int64_t size = 0;       // bytes of data in one element
    int64_t extent = 0;
    int64_t lower_bound = 0; // of the data
    int64_t span = 0;        // from the first to behind the last byte of data
    bool dense = false;      // consecutive elements are consecutive bytes, without gaps
    bool in_order = false;   // ... and are in the order in which MPI sends them
    bool padded = false;     // some of the data mean nothing: as DatatypeLayout says

    // From the first to behind the last byte of count elements.
    int64_t span_of(int64_t count) const { return count > 0 ? span + (count - 1) * extent : 0; }
};

// What MPI says; the second one without the makeup.
DatatypeFacts ask_type_facts(MPI_Datatype type);
DatatypeFacts ask_extents(MPI_Datatype type);

using TypeFactsCache = HandleCache<MPI_Datatype, DatatypeFacts, ask_type_facts>;

// Remembered from call to call. Valid until the thread asks for another type.
inline const DatatypeFacts &facts_of(MPI_Datatype type) { return TypeFactsCache::of(type); }

// A datatype is about to be freed; its handle may come to mean another one.
void forget_type_facts(MPI_Datatype type);

// A committed type that describes the same data, for when the program frees its own;
// MPI_DATATYPE_NULL if MPI has none. The caller frees it. MPI calls no function of the program for
// it, as it does for the attributes of what MPI_Type_dup makes.
MPI_Datatype copy_of_type(MPI_Datatype type);

} // namespace cd::logger
