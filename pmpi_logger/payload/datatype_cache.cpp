// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "payload/datatype_cache.h"

#include "call/handle_word.h"
#include "mpi/real.h"
#include "mpi/reentry_guard.h"

namespace cd::logger {

DatatypeFacts ask_extents(MPI_Datatype type) {
    const ReentryGuard inside;
    MPI_Count wide = 0;
    MPI_Aint lower_bound = 0;
    MPI_Aint extent = 0;
    MPI_Aint true_lower_bound = 0;
    MPI_Aint true_extent = 0;
    real<Fn::MPI_Type_size_x>(type, &wide);
    real<Fn::MPI_Type_get_extent>(type, &lower_bound, &extent);
    real<Fn::MPI_Type_get_true_extent>(type, &true_lower_bound, &true_extent);
    DatatypeFacts facts;
    facts.size = wide;
    facts.extent = extent;
    facts.lower_bound = true_lower_bound;
    facts.span = true_extent;
    facts.dense = facts.size == facts.span && facts.size == facts.extent;
    return facts;
}

DatatypeFacts ask_type_facts(MPI_Datatype type) {
    if (!may_name(type, MPI_DATATYPE_NULL)) {
        return {}; // an error of the program, which MPI reports at the program's own call
    }
    DatatypeFacts facts = ask_extents(type);
    const DatatypeLayout layout = layout_of(type, facts);
    facts.signature = layout.signature;
    facts.in_order = layout.in_order;
    facts.padded = layout.padded;
    return facts;
}

void forget_type_facts(MPI_Datatype type) {
    forget_layout(type);
    TypeFactsCache::forget();
}

MPI_Datatype copy_of_type(MPI_Datatype type) {
    MPI_Datatype copy = MPI_DATATYPE_NULL;
    if (real<Fn::MPI_Type_contiguous>(1, type, &copy) == MPI_SUCCESS) {
        real<Fn::MPI_Type_commit>(&copy);
    }
    return copy;
}

} // namespace cd::logger
