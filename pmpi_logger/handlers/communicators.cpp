// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/communicators.h"

#include "handlers/object_state.h"
#include "mpi/mpi_lifetime.h"
#include "objects/lifetimes.h"
#include "replay/complaint.h"
#include "settings/settings.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

namespace cd::logger {
namespace {

// CD_COMMS_KEPT
int most_that_wait() {
    static const int most = count_in("CD_COMMS_KEPT", 256);
    return most;
}

std::atomic<int> waiting = 0;

Mortal mortal_of(MPI_Comm comm) {
    Mortal mortal;
    mortal.handle = comm;
    mortal.in_fortran = number_in_mpi(comm);
    mortal.facts = ask_comm_facts(comm);
    mortal.number = next_owner();
    return mortal;
}

} // namespace

void CommCreate::created(const Call &call, int result, Mortal &mortal) {
    const MPI_Comm comm = result == MPI_SUCCESS ? made_by(call) : MPI_COMM_NULL;
    cd_log_place place = {};
    if (comm == MPI_COMM_NULL || !CommFree::many_wait() || RecordAll::records() ||
        cd_log_here(&place) == 0) {
        return;
    }
    mortal = mortal_of(comm);
    mortal.made = place;
    mortal.handler = held_handler<Fn::MPI_Comm_get_errhandler>(comm, place);
    MortalComms::add(mortal);
}

bool CommFree::many_wait() { return waiting >= most_that_wait(); }

void CommFree::one_waits() {
    cd_log_place place = {};
    if (cd_log_here(&place) != 0 && !RecordAll::records()) {
        ++waiting;
        when_forgotten(place, [] { --waiting; });
    }
}

bool CommFree::is_used(const Mortal &mortal) {
    return !mortal.freed && RequestTable::instance().uses(mortal.handle);
}

int CommFree::leads_elsewhere(MPI_Comm comm, bool &elsewhere) {
    if (comm == MPI_COMM_NULL || RecordAll::records() || MortalComms::is_freed(comm)) {
        return MPI_SUCCESS;
    }
    const ReentryGuard inside;
    int inter = 0;
    const int result = real<Fn::MPI_Comm_test_inter>(comm, &inter);
    elsewhere = result == MPI_SUCCESS && inter != 0;
    if (!elsewhere || !MpiLife::has_world()) {
        return result;
    }
    MPI_Group others = MPI_GROUP_NULL;
    MPI_Group here = MPI_GROUP_NULL;
    real<Fn::MPI_Comm_remote_group>(comm, &others);
    real<Fn::MPI_Comm_group>(MPI_COMM_WORLD, &here);
    int size = 0;
    real<Fn::MPI_Group_size>(others, &size);
    std::vector<int> ranks(static_cast<size_t>(size));
    std::iota(ranks.begin(), ranks.end(), 0);
    std::vector<int> ranks_here(ranks.size());
    real<Fn::MPI_Group_translate_ranks>(others, size, ranks.data(), here, ranks_here.data());
    real<Fn::MPI_Group_free>(&others);
    real<Fn::MPI_Group_free>(&here);
    elsewhere = std::ranges::count(ranks_here, MPI_UNDEFINED) != 0;
    return MPI_SUCCESS;
}

void CommFree::becomes_mortal(MPI_Comm comm) {
    const ReentryGuard inside;
    const std::optional<Mortal> noted = MortalComms::take(comm);
    Mortal mortal = mortal_of(comm);
    mortal.known_late = true;
    if (noted) {
        mortal.number = noted->number;
        mortal.made = noted->made;
    }
    MortalComms::add(mortal);
}

void CommFree::about_to_be_freed(Mortal &mortal) {
    cd_log_place place = {};
    if (cd_log_here(&place) != 0) {
        mortal.handler = held_handler<Fn::MPI_Comm_get_errhandler>(mortal.handle, place);
        mortal.freed = true;
    }
}

void CommFree::stays(Mortal mortal) {
    if (mortal.known_late) { // it is as all others again
        if (mortal.made.family == 0) {
            return;
        }
        mortal.known_late = false;
        mortal.is_other = true;
    }
    MortalComms::add(mortal);
}

int CommQuery::of_ended_connection(Fn fn, const void *site, MPI_Comm comm) {
    complain_unknown(fn, site,
                     "the program disconnected this connection to another job later, and ranks and "
                     "sizes are all that is known of it still. Ask before the domain begins, or "
                     "advance the domain between asking and MPI_Comm_disconnect");
    return raise(comm, MPI_ERR_OTHER);
}

// A restore goes back to when the program had it.
void CommFree::mortal_freed(Mortal &mortal) {
    if (const std::optional<cd_log_place> place = last_entry()) {
        if (note_freed(mortal, *place)) {
            when_forgotten(*place, [number = mortal.number] {
                AttributeHolders::remove(number);
                MortalComms::remove(number);
            });
        }
        when_restored(*place, [mortal] { MortalComms::put_back(mortal); });
    }
}

} // namespace cd::logger
