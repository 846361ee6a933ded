// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "payload/comm_facts.h"

#include "interception/real.h"
#include "payload/handle_cache.h"

#include <map>
#include <mutex>
#include <unordered_map>

namespace cd::logger {
namespace {

std::mutex mutex;

struct Mortal {
    MPI_Comm comm = MPI_COMM_NULL;
    CommFacts facts;
    bool freed = false;
};

// By number. MPI gives the handle of one that is freed to a later one: the first is meant, until a
// replay has come to where the program frees it.
using OfOneHandle = std::map<int, Mortal>;

std::unordered_map<uint64_t, OfOneHandle> &mortals() {
    static auto &all = *new std::unordered_map<uint64_t, OfOneHandle>;
    return all;
}

// Locked by the caller. nullptr if there is none.
const Mortal *find(MPI_Comm comm) {
    const auto found = mortals().find(word_of(comm));
    return found != mortals().end() ? &found->second.begin()->second : nullptr;
}

void ask_neighbors(MPI_Comm comm, CommFacts &facts) {
    int kind = MPI_UNDEFINED;
    real<Fn::MPI_Topo_test>(comm, &kind);
    if (kind == MPI_CART) {
        int dimensions = 0;
        real<Fn::MPI_Cartdim_get>(comm, &dimensions);
        facts.neighbors_in = facts.neighbors_out = 2 * dimensions;
    } else if (kind == MPI_GRAPH) {
        real<Fn::MPI_Graph_neighbors_count>(comm, facts.rank, &facts.neighbors_in);
        facts.neighbors_out = facts.neighbors_in;
    } else if (kind == MPI_DIST_GRAPH) {
        int weighted = 0;
        real<Fn::MPI_Dist_graph_neighbors_count>(comm, &facts.neighbors_in, &facts.neighbors_out,
                                                 &weighted);
    }
}

CommFacts ask(MPI_Comm comm) {
    CommFacts facts;
    real<Fn::MPI_Comm_rank>(comm, &facts.rank);
    real<Fn::MPI_Comm_size>(comm, &facts.size);
    real<Fn::MPI_Comm_test_inter>(comm, &facts.inter);
    if (facts.inter != 0) {
        real<Fn::MPI_Comm_remote_size>(comm, &facts.remote_size);
    } else {
        ask_neighbors(comm, facts);
    }
    facts.in_fortran = MPI_Comm_c2f(comm);
    return facts;
}

CommFacts ask_mortals_first(MPI_Comm comm) {
    if (!MortalComms::none()) {
        const std::scoped_lock lock(mutex);
        if (const Mortal *mortal = find(comm)) {
            return mortal->facts;
        }
    }
    return ask(comm);
}

using Cache = HandleCache<MPI_Comm, CommFacts, ask_mortals_first>;

} // namespace

const CommFacts &comm_facts_of(MPI_Comm comm) { return Cache::of(comm); }

void forget_comm_facts() { Cache::forget(); }

bool MortalComms::has(MPI_Comm comm) {
    if (none()) {
        return false;
    }
    const std::scoped_lock lock(mutex);
    return find(comm) != nullptr;
}

void MortalComms::add(MPI_Comm comm, const CommFacts &facts) {
    const std::scoped_lock lock(mutex);
    mortals()[word_of(comm)].try_emplace(facts.number, Mortal{comm, facts, false});
    changed();
}

void MortalComms::add_freed(MPI_Comm comm, const CommFacts &facts) {
    const std::scoped_lock lock(mutex);
    mortals()[word_of(comm)][facts.number] = {comm, facts, true};
    changed();
}

bool MortalComms::is_freed(MPI_Comm comm) {
    if (none()) {
        return false;
    }
    const std::scoped_lock lock(mutex);
    const Mortal *mortal = find(comm);
    return mortal != nullptr && mortal->freed;
}

MPI_Comm MortalComms::find_freed(MPI_Fint in_fortran) {
    if (none()) {
        return MPI_COMM_NULL;
    }
    const std::scoped_lock lock(mutex);
    const Mortal *first = nullptr; // MPI gives these handles to later ones, too
    for (const auto &[word, those] : mortals()) {
        const Mortal &mortal = those.begin()->second;
        if (mortal.freed && mortal.facts.in_fortran == in_fortran &&
            (first == nullptr || mortal.facts.number < first->facts.number)) {
            first = &mortal;
        }
    }
    return first != nullptr ? first->comm : MPI_COMM_NULL;
}

void MortalComms::remove(MPI_Comm comm, int number) {
    const std::scoped_lock lock(mutex);
    const auto found = mortals().find(word_of(comm));
    if (found != mortals().end()) {
        found->second.erase(number);
        if (found->second.empty()) {
            mortals().erase(found);
        }
    }
    changed();
}

void MortalComms::changed() {
    count_ = static_cast<int>(mortals().size());
    forget_comm_facts();
}

} // namespace cd::logger
