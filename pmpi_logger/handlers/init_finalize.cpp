// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/init_finalize.h"

#include "handlers/request_free.h"
#include "log_entry/writer.h"
#include "objects/deferred_free.h"
#include "payload/private_comm.h"
#include "record_all/record_all.h"
#include "replay/divergence.h"
#include "replay/match.h"
#include "requests/replayed_request.h"
#include "requests/request_table.h"

namespace cd::logger {
namespace {

cd_log_place end_of_mpi = {}; // of no family, if no CD logged then

void begin_as(int rank) {
    cd_set_rank(rank);
    check_on_divergence();
    RecordAll::begin();
}

} // namespace

void Initialize::initialized() {
    MpiLifetime::world_begins();
    int threads = MPI_THREAD_SINGLE;
    real<Fn::MPI_Query_thread>(&threads);
    if (threads == MPI_THREAD_SINGLE || threads == MPI_THREAD_FUNNELED) {
        RequestTable::instance().used_by_this_thread();
    }
    begin_as(MpiLifetime::rank());
}

bool Finalize::is_to_be_repeated(cd_handle cd) {
    return end_of_mpi.family != 0 && cd_log_covers(cd, &end_of_mpi) != 0;
}

void Finalize::finalizing() {
    RecordAll::end();
    cd_log_here(&end_of_mpi);
    const ReentryGuard inside;
    RequestFree::sweep(true);
    run_all_forgotten();
    free_placeholders();
    free_own_comm();
}

#ifdef CD_HAS_MPI_Session_init
void SessionInit::opened(MPI_Session session) {
    int rank = 0;
    MPI_Group world = MPI_GROUP_NULL;
    if (real<Fn::MPI_Group_from_session_pset>(session, "mpi://WORLD", &world) == MPI_SUCCESS) {
        real<Fn::MPI_Group_rank>(world, &rank);
        real<Fn::MPI_Group_free>(&world);
    }
    const bool begins = !MpiLifetime::is_up();
    MpiLifetime::session_begins(rank);
    if (begins) {
        begin_as(rank);
    }
}
#endif

double ClockRead::read(const void *site, int mode) {
    Call call(Fn::MPI_Wtime, site);
    if (mode == CD_LOG_REPLAYING) {
        if (std::optional<EntryReader> entry = next_entry_if_same(call)) {
            return entry->take<double>();
        }
    }
    const double now = real<Fn::MPI_Wtime>();
    if (cd_log_mode() == CD_LOG_RECORDING) {
        EntryWriter writer(call, MPI_SUCCESS);
        writer.set(EntryHeader::optional);
        writer.add(now);
        writer.write();
    }
    return now;
}

} // namespace cd::logger
