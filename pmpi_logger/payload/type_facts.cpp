// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "payload/type_facts.h"

#include "interception/real.h"

#include <array>
#include <atomic>

namespace cd::logger {
namespace {

constexpr size_t remembered = 64;

struct Memory {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    uint64_t age = 0;
    TypeFacts facts;
};

std::atomic<uint64_t> age = 1;
thread_local std::array<Memory, remembered> memory;

size_t place_of(MPI_Datatype type) {
    auto bits = reinterpret_cast<uintptr_t>(reinterpret_cast<void *>(type));
    return (bits ^ bits >> 6 ^ bits >> 12) % remembered;
}

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

} // namespace

TypeFacts facts_of(MPI_Datatype type) {
    Memory &known = memory[place_of(type)];
    const uint64_t now = age.load(std::memory_order_relaxed);
    if (known.type != type || known.age != now) {
        known = {type, now, ask(type)};
    }
    return known.facts;
}

void forget_type_facts() { age.fetch_add(1, std::memory_order_relaxed); }

} // namespace cd::logger
