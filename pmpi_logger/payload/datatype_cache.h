// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "payload/datatype_layout.h"
#include "payload/handle_cache.h"

#include <cstdint>
#include <mpi.h>

namespace cd::logger {

// Facts about a datatype. Together with the handle they fill one line of the processor's cache.
struct DatatypeFacts {
    uint64_t signature = 0; // as that of DatatypeLayout
    int64_t size = 0;       // bytes of data in one element
    int64_t extent = 0;
    int64_t lower_bound = 0; // of the data
    int64_t span = 0;        // from the first to behind the last byte of data
    bool dense = false;      // consecutive elements are consecutive bytes, without gaps
    bool in_order = false;   // ... and lie in the order in which MPI sends them
    bool padded = false;     // some bytes have no meaning, as in DatatypeLayout

    // Returns the distance from the first byte of `count` elements to behind the last one.
    int64_t span_of(int64_t count) const { return count > 0 ? span + (count - 1) * extent : 0; }
};

// Ask MPI; the second one leaves the layout out.
DatatypeFacts ask_type_facts(MPI_Datatype type);
DatatypeFacts ask_extents(MPI_Datatype type);

using TypeFactsCache = HandleCache<MPI_Datatype, DatatypeFacts, ask_type_facts>;

// Returns the facts of `type`, from the cache if they are there. Valid until the thread asks about
// another type.
inline const DatatypeFacts &facts_of(MPI_Datatype type) { return TypeFactsCache::of(type); }

// Forgets `type`, which is about to be freed: its handle may be given to another type.
void forget_type_facts(MPI_Datatype type);

// Returns a committed type that describes the same data as `type`, or MPI_DATATYPE_NULL. The caller
// frees it. Calls no function of the program, as MPI_Type_dup would for attributes.
MPI_Datatype copy_of_type(MPI_Datatype type);

} // namespace cd::logger
