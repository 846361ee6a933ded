// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "payload/comm_facts.h"

#include "call/per_thread.h"
#include "interception/real.h"
#include "payload/handle_cache.h"

#include "cd/mpi_log.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>

namespace cd::logger {
namespace {

std::mutex mutex;

// By number. MPI gives the handle of one that is freed to a later one: a thread whose log is of the
// same root means the first, until a replay has come to where the program frees it.
using OfOneHandle = std::map<int, Mortal>;

std::unordered_map<uint64_t, OfOneHandle> &mortals() {
    static auto &all = *new std::unordered_map<uint64_t, OfOneHandle>;
    return all;
}

// A freed one is meant while this thread's own log is not replayed, too: that of a CD may end
// before its parent's does.
bool is_meant(const Mortal &mortal) {
    cd_log_place here = {};
    return !mortal.freed || (cd_log_here(&here) != 0 && here.family == mortal.family);
}

Mortal *first_meant(OfOneHandle &those) {
    const auto meant =
        std::ranges::find_if(those, [](const auto &each) { return is_meant(each.second); });
    return meant != those.end() ? &meant->second : nullptr;
}

// The caller holds the mutex. nullptr if this thread means none by it.
Mortal *find(MPI_Comm comm) {
    const auto found = mortals().find(word_of(comm));
    return found != mortals().end() ? first_meant(found->second) : nullptr;
}

// The same.
void erase(const Mortal &mortal) {
    const auto found = mortals().find(word_of(mortal.comm));
    if (found != mortals().end()) {
        found->second.erase(mortal.facts.number);
        if (found->second.empty()) {
            mortals().erase(found);
        }
    }
}

uint64_t absent_in_grid(MPI_Comm comm, int dimensions) {
    uint64_t absent = 0;
    for (int i = 0; i < std::min(dimensions, 32); ++i) {
        int before = 0;
        int after = 0;
        real<Fn::MPI_Cart_shift>(comm, i, 1, &before, &after);
        absent |= uint64_t{before == MPI_PROC_NULL} << (2 * i);
        absent |= uint64_t{after == MPI_PROC_NULL} << (2 * i + 1);
    }
    return absent;
}

void ask_neighbors(MPI_Comm comm, CommFacts &facts) {
    int kind = MPI_UNDEFINED;
    real<Fn::MPI_Topo_test>(comm, &kind);
    if (kind == MPI_CART) {
        int dimensions = 0;
        real<Fn::MPI_Cartdim_get>(comm, &dimensions);
        facts.neighbors_in = facts.neighbors_out = 2 * dimensions;
        facts.absent_neighbors = absent_in_grid(comm, dimensions);
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
    if (comm == MPI_COMM_NULL) {
        return facts; // an error of the program's, which MPI tells it where it makes it
    }
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

using Cache = HandleCache<MPI_Comm, CommFacts, ask>;
struct FactsOfMortal : CommFacts {};

} // namespace

const CommFacts &comm_facts_of(MPI_Comm comm) {
    if (!MortalComms::none()) {
        const std::scoped_lock lock(mutex);
        if (const Mortal *mortal = find(comm)) {
            return of_this_thread<FactsOfMortal>() = {mortal->facts};
        }
    }
    return Cache::of(comm);
}

void forget_comm_facts() { Cache::forget(); }

bool MortalComms::has(MPI_Comm comm) {
    if (none()) {
        return false;
    }
    const std::scoped_lock lock(mutex);
    return find(comm) != nullptr;
}

void MortalComms::add(const Mortal &mortal) {
    const std::scoped_lock lock(mutex);
    Mortal &there =
        mortals()[word_of(mortal.comm)].try_emplace(mortal.facts.number, mortal).first->second;
    there.handler = mortal.handler;
    changed();
}

std::optional<Mortal> MortalComms::take(MPI_Comm comm) {
    if (none()) {
        return {};
    }
    const std::scoped_lock lock(mutex);
    const Mortal *found = find(comm);
    if (found == nullptr) {
        return {};
    }
    const Mortal mortal = *found;
    erase(mortal);
    changed();
    return mortal;
}

void MortalComms::put_back(const Mortal &mortal) {
    const std::scoped_lock lock(mutex);
    mortals()[word_of(mortal.comm)][mortal.facts.number] = mortal;
    changed();
}

void MortalComms::remove(const Mortal &mortal) {
    const std::scoped_lock lock(mutex);
    erase(mortal);
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
    for (auto &[word, those] : mortals()) {
        const Mortal *mortal = first_meant(those);
        if (mortal != nullptr && mortal->freed && mortal->facts.in_fortran == in_fortran &&
            (first == nullptr || mortal->facts.number < first->facts.number)) {
            first = mortal;
        }
    }
    return first != nullptr ? first->comm : MPI_COMM_NULL;
}

bool MortalComms::is_known_late(MPI_Comm comm) {
    const std::scoped_lock lock(mutex);
    const Mortal *mortal = find(comm);
    return mortal != nullptr && mortal->known_late;
}

MPI_Errhandler MortalComms::handler_of(MPI_Comm comm) {
    const std::scoped_lock lock(mutex);
    const Mortal *mortal = find(comm);
    return mortal != nullptr ? mortal->handler : MPI_ERRHANDLER_NULL;
}

void MortalComms::set_handler(MPI_Comm comm, MPI_Errhandler handler) {
    const std::scoped_lock lock(mutex);
    if (Mortal *mortal = find(comm)) {
        mortal->handler = handler;
    }
}

void MortalComms::changed() {
    count_ = static_cast<int>(mortals().size());
    forget_comm_facts();
}

} // namespace cd::logger
