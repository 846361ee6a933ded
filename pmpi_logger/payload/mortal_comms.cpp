// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "payload/mortal_comms.h"

#include "call/per_thread.h"

#include "cd/mpi_log.h"

#include <mutex>
#include <set>
#include <unordered_map>

namespace cd::logger {
namespace {

std::mutex mutex;

struct Kept {
    Mortal mortal;
    bool is_there = true;            // a replay has come to where it is made
    cd_handle restored_cd = nullptr; // to before it was freed
};

// By their numbers. MPI gives the handle of one that is freed to a later one, that of a sibling in
// another thread, too.
using Numbers = std::set<int>;

struct All {
    std::unordered_map<int, Kept> mortals;
    std::unordered_map<uint64_t, Numbers> of_handle;
    std::unordered_map<MPI_Fint, Numbers> of_handle_in_fortran;
};

All &all() {
    static auto &them = *new All;
    return them;
}

// A freed one may be while this thread's own log is not replayed, too: that of a CD may end before
// its parent's does. If the CD that was restored has ended its ancestors go on with the replay.
bool can_be_meant(const Kept &kept, const cd_log_place &here) {
    return kept.is_there && (!kept.mortal.freed || (here.family == kept.mortal.freed_at.family &&
                                                    cd_log_outside(kept.restored_cd) == 0));
}

// Whoever knows it best.
uint64_t log_of(const Mortal &mortal) {
    return mortal.known_late ? mortal.freed_at.stream : mortal.made.stream;
}

// The caller holds the mutex. nullptr if this thread means none of them by key, else the first of
// its own log, or of any: a replay takes it away where the program frees it.
template <typename Key>
Mortal *find_in(const std::unordered_map<Key, Numbers> &by_key, const Key &key) {
    const auto found = by_key.find(key);
    if (found == by_key.end()) {
        return nullptr;
    }
    cd_log_place here = {};
    cd_log_here(&here);
    Mortal *meant = nullptr;
    for (const int number : found->second) {
        Kept &kept = all().mortals.at(number);
        if (!can_be_meant(kept, here)) {
            continue;
        }
        if (log_of(kept.mortal) == here.stream) {
            return &kept.mortal;
        }
        meant = meant != nullptr ? meant : &kept.mortal;
    }
    return meant;
}

Mortal *find(MPI_Comm comm) { return find_in(all().of_handle, word_of(comm)); }

template <typename Key>
void take_out(std::unordered_map<Key, Numbers> &by_key, const Key &key, int number) {
    Numbers &those = by_key[key];
    those.erase(number);
    if (those.empty()) {
        by_key.erase(key);
    }
}

struct FactsOfMortal : CommFacts {};

} // namespace

bool MortalComms::has(MPI_Comm comm) {
    if (!may_have(comm)) {
        return false;
    }
    const std::scoped_lock lock(mutex);
    return find(comm) != nullptr;
}

const CommFacts *MortalComms::facts_of(MPI_Comm comm) {
    if (!may_have(comm)) {
        return nullptr;
    }
    const std::scoped_lock lock(mutex);
    const Mortal *mortal = find(comm);
    return mortal != nullptr ? &(of_this_thread<FactsOfMortal>() = {mortal->facts}) : nullptr;
}

// The caller of this and the next one holds the mutex.
void MortalComms::insert(const Mortal &mortal) {
    all().mortals[mortal.number] = {mortal};
    all().of_handle[word_of(mortal.comm)].insert(mortal.number);
    all().of_handle_in_fortran[mortal.facts.in_fortran].insert(mortal.number);
    handles_.add(word_of(mortal.comm));
    fortran_numbers_.add(word_of(mortal.facts.in_fortran));
    ++count_;
    forget_comm_facts();
}

void MortalComms::erase(int number) {
    const auto found = all().mortals.find(number);
    if (found == all().mortals.end()) {
        return;
    }
    const Mortal &mortal = found->second.mortal;
    take_out(all().of_handle, word_of(mortal.comm), number);
    take_out(all().of_handle_in_fortran, mortal.facts.in_fortran, number);
    handles_.remove(word_of(mortal.comm));
    fortran_numbers_.remove(word_of(mortal.facts.in_fortran));
    --count_;
    all().mortals.erase(found);
    forget_comm_facts();
}

void MortalComms::add(const Mortal &mortal) {
    const std::scoped_lock lock(mutex);
    if (const auto there = all().mortals.find(mortal.number); there != all().mortals.end()) {
        there->second.mortal.handler = mortal.handler;
        there->second.is_there = true;
    } else {
        insert(mortal);
    }
}

std::optional<Mortal> MortalComms::take(MPI_Comm comm) {
    if (!may_have(comm)) {
        return {};
    }
    const std::scoped_lock lock(mutex);
    const Mortal *found = find(comm);
    if (found == nullptr) {
        return {};
    }
    const Mortal mortal = *found;
    erase(mortal.number);
    return mortal;
}

void MortalComms::put_back(const Mortal &mortal) {
    const std::scoped_lock lock(mutex);
    erase(mortal.number);
    insert(mortal);
}

void MortalComms::restored(cd_handle cd) {
    const std::scoped_lock lock(mutex);
    for (auto &[number, kept] : all().mortals) {
        if (cd_log_covers(cd, &kept.mortal.made) != 0) {
            kept.is_there = false;
        }
        if (kept.mortal.freed && cd_log_covers(cd, &kept.mortal.freed_at) != 0) {
            kept.restored_cd = cd;
        }
    }
}

void MortalComms::remove(const Mortal &mortal) {
    const std::scoped_lock lock(mutex);
    erase(mortal.number);
}

bool MortalComms::is_freed(MPI_Comm comm) {
    if (!may_have(comm)) {
        return false;
    }
    const std::scoped_lock lock(mutex);
    const Mortal *mortal = find(comm);
    return mortal != nullptr && mortal->freed;
}

MPI_Comm MortalComms::find_freed(MPI_Fint in_fortran) {
    if (!fortran_numbers_.may_have(word_of(in_fortran))) {
        return MPI_COMM_NULL;
    }
    const std::scoped_lock lock(mutex);
    const Mortal *mortal = find_in(all().of_handle_in_fortran, in_fortran);
    return mortal != nullptr && mortal->freed ? mortal->comm : MPI_COMM_NULL;
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

} // namespace cd::logger
