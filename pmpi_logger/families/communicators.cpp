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

// A reference to its error handler, until no restore can go back to before place.
MPI_Errhandler held_handler(MPI_Comm comm, const cd_log_place &place) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    real<Fn::MPI_Comm_get_errhandler>(comm, &handler);
    when_forgotten(place, [held = handler]() mutable { real<Fn::MPI_Errhandler_free>(&held); });
    return handler;
}

MPI_Comm made_by(const Call &call) { return *static_cast<const MPI_Comm *>(call.outputs[0].to); }

} // namespace

void CreatesComm::created(const Call &call, int result, Mortal &mortal) {
    const MPI_Comm comm = result == MPI_SUCCESS ? made_by(call) : MPI_COMM_NULL;
    cd_log_place place = {};
    if (comm == MPI_COMM_NULL || !FreesComm::many_wait() || WholeProgram::records() ||
        cd_log_here(&place) == 0) {
        return;
    }
    mortal.comm = comm;
    mortal.facts = comm_facts_of(comm);
    mortal.facts.number = ++mortals;
    mortal.handler = held_handler(comm, place);
    MortalComms::add(mortal);
}

bool FreesComm::many_wait() { return waiting >= most_that_wait(); }

void FreesComm::one_waits() {
    cd_log_place place = {};
    if (cd_log_here(&place) != 0 && !WholeProgram::records()) {
        ++waiting;
        when_forgotten(place, [] { --waiting; });
    }
}

bool FreesComm::is_used(const Mortal &mortal) {
    return !mortal.freed && RequestTable::instance().uses(mortal.comm);
}

void FreesComm::about_to_be_freed(Mortal &mortal) {
    cd_log_place place = {};
    if (cd_log_here(&place) != 0) {
        mortal.handler = held_handler(mortal.comm, place);
        mortal.freed = true;
    }
}

// A restore goes back to when the program had it.
void FreesComm::mortal_freed(const Mortal &mortal) {
    cd_log_place place = {};
    if (cd_log_here(&place) != 0 && place.entry > 0) {
        --place.entry;
        when_restored(place, [mortal] { MortalComms::put_back(mortal); });
        when_forgotten(place, [mortal] { MortalComms::remove(mortal); });
    }
}

} // namespace cd::logger
