// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "families/communicators.h"

#include "lifetimes/lifetimes.h"

#include <atomic>
#include <cstdlib>

namespace cd::logger {
namespace {

// CD_COMMS_KEPT
int most_that_wait() {
    static const int most = [] {
        const char *setting = std::getenv("CD_COMMS_KEPT");
        return setting != nullptr ? std::atoi(setting) : 256;
    }();
    return most;
}

std::atomic<int> waiting = 0;
std::atomic<int> mortals = 0;

MPI_Comm made_by(const Call &call) { return *static_cast<const MPI_Comm *>(call.outputs[0].to); }

} // namespace

void CreatesComm::created(const Call &call, int result, Mortality &mortality) {
    if (result == MPI_SUCCESS && made_by(call) != MPI_COMM_NULL && FreesComm::many_wait() &&
        !WholeProgram::records()) {
        mortality = {1, comm_facts_of(made_by(call))};
        mortality.facts.number = ++mortals;
        MortalComms::add(made_by(call), mortality.facts);
    }
}

void CreatesComm::replayed(const Call &call, const Mortality &mortality) {
    if (mortality.mortal != 0) {
        MortalComms::add(made_by(call), mortality.facts);
    }
}

bool FreesComm::many_wait() { return waiting >= most_that_wait(); }

void FreesComm::one_waits() {
    cd_log_place place = {};
    if (cd_log_here(&place) != 0 && !WholeProgram::records()) {
        ++waiting;
        when_forgotten(place, [] { --waiting; });
    }
}

void FreesComm::mortal_freed(MPI_Comm comm) {
    // A restore goes back to when the program had it.
    const CommFacts facts = comm_facts_of(comm);
    cd_log_place place = {};
    if (cd_log_here(&place) != 0 && place.entry > 0) {
        --place.entry;
        when_restored(place, [comm, facts] { MortalComms::add_freed(comm, facts); });
        when_forgotten(place, [comm, facts] { MortalComms::remove(comm, facts.number); });
    }
    MortalComms::remove(comm, facts.number);
}

} // namespace cd::logger
