// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "replay/going_live.h"

#include "call/replay_range.h"
#include "log_entry/completion_entry.h"
#include "log_entry/reader.h"
#include "mpi/real.h"
#include "mpi/reentry_guard.h"
#include "payload/copy.h"
#include "replay/complaint.h"
#include "requests/completion.h"
#include "requests/left_behind.h"
#include "requests/logged_arrivals.h"
#include "requests/table.h"

#include "cd/mpi_log.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace cd::logger {
namespace {

// While this thread goes on live, logs of others may go with its own: they are in their calls.
bool &spares_others() {
    [[gnu::tls_model("initial-exec")]] static constinit thread_local bool spares = false;
    return spares;
}

Request *find(uint64_t id) {
    if (id == 0) {
        return nullptr;
    }
    RequestTable &table = RequestTable::instance();
    return spares_others() ? table.find_of_this_thread(id) : table.find(id);
}

bool is_anothers(uint64_t id) {
    return spares_others() && id != 0 && find(id) == nullptr &&
           RequestTable::instance().find(id) != nullptr;
}

// What comes next in the entry is what a request has brought, unless the program had been told of
// it before. False if nothing behind it can be read.
bool take(EntryReader &entry, uint64_t id, size_t blocks, const MPI_Status &status, int result) {
    Request *const request = find(id);
    const size_t brought = blocks != Finished::no_data ? blocks : 0;
    if (is_anothers(id)) {
        leave_behind(id, entry, brought, status, result);
        return true;
    }
    if (request == nullptr || request->state != Request::State::replayed) {
        skip_arrivals(entry, brought);
        return true;
    }
    if (request->delivered) {
        skip_arrivals(entry, brought);
    } else if (request->arrivals.size() != blocks) { // a synchronization has brought them
        skip_arrivals(entry, brought);
        result = lost;
    } else {
        const auto types = RequestTable::instance().hold_types();
        if (!take_arrivals(entry, id, request, blocks)) {
            return false;
        }
        request->delivered = true; // what is staged is of an older use
    }
    complete_in_mpi(*request, status, result);
    return true;
}

void take_completed(EntryReader &entry) {
    const auto ending = entry.take<Ending>();
    entry.take(sizeof(int) * static_cast<size_t>(ending.indices));
    const auto *statuses = entry.take(sizeof(MPI_Status) * static_cast<size_t>(ending.statuses));
    bool readable = true;
    for (int k = 0; k < ending.finished && readable; ++k) {
        const auto finished = entry.take<Finished>();
        const int at = ending.has_status_of_each() ? finished.slot : k;
        MPI_Status status;
        std::memcpy(&status, statuses + sizeof status * static_cast<size_t>(at), sizeof status);
        const int result = entry.result() == MPI_ERR_IN_STATUS ? status.MPI_ERROR : entry.result();
        readable = take(entry, finished.id, finished.blocks, status, result);
    }
}

// What the program asked about, and has perhaps freed then. If not, MPI has the request, and where
// it lay during the restore, the log alone has what it has brought.
void take_told(EntryReader &entry) {
    const auto status = entry.take<MPI_Status>();
    const auto id = entry.take<uint64_t>();
    const auto blocks = entry.take<uint32_t>();
    const Request *const request = find(id);
    if (blocks != Finished::no_data && is_anothers(id)) {
        static_cast<void>(take(entry, id, blocks, status, entry.result()));
        return;
    }
    if (blocks == Finished::no_data || (request == nullptr && (id != 0 || spares_others()))) {
        return;
    }
    if (request != nullptr && request->state == Request::State::replayed) {
        static_cast<void>(take(entry, id, blocks, status, entry.result()));
    } else if (request == nullptr || (!request->is_apart() && !request->delivered)) {
        const auto types = RequestTable::instance().hold_types();
        static_cast<void>(take_arrivals(entry, id, request, blocks));
    }
}

// Of one that was freed. Its status is not known, if the re-execution asks for it.
void take_arrived(EntryReader &entry) {
    const auto id = entry.take<uint64_t>();
    const auto blocks = entry.take<uint64_t>();
    static_cast<void>(take(entry, id, blocks, {}, lost));
}

void take_entry(EntryReader entry) {
    const Fn fn = entry.header().function();
    if (entry.has(EntryHeader::arrived)) {
        take_arrived(entry);
    } else if (entry.has(EntryHeader::negative)) {
        return;
    } else if (is_in_family(fn, "Completes")) {
        take_completed(entry);
    } else if (is_in_family(fn, "Peeks")) {
        take_told(entry);
    }
}

// A token that nobody brings is none the worse for it.
bool lacks_data(const Request &request) {
    const auto types = RequestTable::instance().hold_types();
    return still_brings_data(request) &&
           std::ranges::any_of(request.arrivals,
                               [](const Block &block) { return bytes_in(block) > 0; });
}

// As MPI has it of what has brought nothing.
MPI_Status empty_status() {
    MPI_Status status = {};
    real<Fn::MPI_Status_set_elements>(&status, MPI_BYTE, 0);
    real<Fn::MPI_Status_set_cancelled>(&status, 0);
    status.MPI_SOURCE = MPI_ANY_SOURCE;
    status.MPI_TAG = MPI_ANY_TAG;
    return status;
}

// Those of which no log has data that is left, of the requests that were started where is_gone says
// so.
template <typename IsGone>
void fail_the_others(const std::vector<Request *> &requests, const IsGone &is_gone) {
    for (Request *request : requests) {
        if (request->state == Request::State::replayed && is_gone(request->place) &&
            lacks_data(*request)) {
            complete_in_mpi(*request, {}, lost);
        }
    }
}

void take_all() {
    const ReentryGuard inside;
    size_t size = 0;
    while (const void *entry = cd_log_read(&size)) {
        take_entry(EntryReader(entry, size));
    }
}

} // namespace

bool a_log_may_bring_more() { return __atomic_load_n(cd_log_replays(), __ATOMIC_RELAXED) != 0; }

void take_left(cd_handle cd, const void *entry, size_t size) {
    const ReentryGuard inside;
    if (entry != nullptr) {
        take_entry(EntryReader(entry, size));
        return;
    }
    RequestTable &table = RequestTable::instance();
    const Reach reach(cd);
    fail_the_others(spares_others() ? table.of_this_thread() : table.concerned(reach),
                    [&](const cd_log_place &start) { return reach.covers(start); });
}

void take_what_no_log_brings(const Call &call, const std::vector<Request *> &requests) {
    for (Request *request : requests) {
        if (request == nullptr || request->state != Request::State::replayed ||
            take_left_behind(*request) || a_log_may_bring_more()) {
            continue;
        }
        if (!lacks_data(*request)) {
            complete_in_mpi(*request, empty_status(), MPI_SUCCESS);
            continue;
        }
        complain_unknown(call.fn, call.site,
                         "the request was started in a replay, and the log that has what it "
                         "brings is gone, or is another domain's. Wait for a request in the "
                         "domain, or one inside it, that has started it");
        complete_in_mpi(*request, {}, lost);
    }
}

bool go_live() {
    cd_log_place here = {};
    cd_log_here(&here);
    take_all();
    spares_others() = true;
    delete_MPI_log_from_cd(CD_CURRENT_CD);
    spares_others() = false;
    {
        const ReentryGuard inside;
        fail_the_others(RequestTable::instance().of_this_thread(),
                        [&](const cd_log_place &start) { return start.stream == here.stream; });
    }
    return cd_log_mode() != CD_LOG_REPLAYING;
}

} // namespace cd::logger
