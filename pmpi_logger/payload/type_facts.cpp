// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "payload/type_facts.h"

#include "interception/real.h"
#include "payload/handle_cache.h"

namespace cd::logger {
namespace {

TypeFacts ask(MPI_Datatype type) {
    MPI_Count wide = 0;
    MPI_Aint lower_bound = 0;
    MPI_Aint extent = 0;
    MPI_Aint true_lower_bound = 0;
    MPI_Aint true_extent = 0;
    real<Fn::MPI_Type_size_x>(type, &wide);
    real<Fn::MPI_Type_get_extent>(type, &lower_bound, &extent);
    real<Fn::MPI_Type_get_true_extent>(type, &true_lower_bound, &true_extent);
    TypeFacts facts;
    facts.size = wide;
    facts.extent = extent;
    facts.lower_bound = true_lower_bound;
    facts.span = true_extent;
    facts.dense = facts.size == facts.span && facts.size == facts.extent;
    return facts;
}

using Cache = HandleCache<MPI_Datatype, TypeFacts, ask>;

} // namespace

const TypeFacts &facts_of(MPI_Datatype type) { return Cache::of(type); }

void forget_type_facts() { Cache::forget(); }

} // namespace cd::logger
