// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "replay/quiesce.h"

#include "call/handle_word.h"
#include "mpi/real.h"
#include "mpi/reentry_guard.h"
#include "payload/mpi_status.h"
#include "payload/pack.h"
#include "replay/divergence.h"
#include "requests/delivery.h"
#include "requests/replayed_request.h"
#include "requests/request_table.h"
#include "settings/settings.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace cd::logger {
namespace {

// The requests that this thread's restore has stopped, the oldest first.
thread_local std::vector<Request *> stopped;

// Asks MPI without ending the request, as the program holds its handle.
bool is_complete(const Request &request, MPI_Status &status) {
    int complete = 0;
    real<Fn::MPI_Request_get_status>(request.known_to_mpi(), &complete, &status);
    return complete != 0;
}

bool completes_in_time(const Request &request, MPI_Status &status) {
    const std::chrono::duration<double> patience(seconds_in("CD_QUIESCE_TIMEOUT", 10));
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!is_complete(request, status)) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
    }
    return true;
}

// Describes why a request forbids the restore. The result is valid until the thread's next call.
const char *hindrance(const Request &request, const char *why) {
    // By Request::Kind.
    static constexpr const char *kinds[] = {
        "send",       "receive",        "probed receive",        "exchange",
        "collective", "file operation", "partitioned operation", "generalized request"};
    thread_local char reason[256];
    std::snprintf(reason, sizeof reason, "the %s with request %#lx %s",
                  kinds[static_cast<size_t>(request.kind)], word_of(request.handle), why);
    return reason;
}

bool will_be_started_again(const ReplayRange &range, const Request &request) {
    return request.logged() && range.covers(request.place);
}

void keep_data(Request &request, const MPI_Status &status) {
    request.data.clear();
    request.status = status;
    if (request.reported) {
        return; // the log has them
    }
    const auto types = RequestTable::instance().hold_types();
    size_t most = bytes_brought(request, status, MPI_SUCCESS);
    std::vector<std::byte> scratch;
    for (const Block &block : request.arrivals) {
        const Bytes bytes = view(block, std::min(bytes_in(block), most), scratch);
        most = SIZE_MAX;
        const auto *from = static_cast<const std::byte *>(bytes.data);
        request.data.insert(request.data.end(), from, from + bytes.size);
    }
}

// Stops a request. Returns false if it neither ends nor can go on during a restore.
bool stop(const ReplayRange &range, Request &request) {
    if (request.is_apart()) {
        if (request.persistent) { // the re-execution comes to earlier uses of it first
            stopped.push_back(&request);
        }
        return true;
    }
    const bool starts_again = will_be_started_again(range, request);
    if (request.kind == Request::Kind::generalized) {
        if (starts_again) { // by another request of MPI, which keeps this one
            request.state = Request::State::cancelled;
            stopped.push_back(&request);
        }
        return true;
    }
    if (request.kind == Request::Kind::send && !starts_again) {
        return true; // its buffer may not change, so a restore writes the same bytes
    }
    MPI_Status status = {};
    const bool can_be_posted_again = request.persistent || request.comm != MPI_COMM_NULL;
    bool complete = false;
    if (request.kind == Request::Kind::receive && can_be_posted_again) {
        complete = is_complete(request, status);
        if (!complete) { // Open MPI crashes when one is cancelled twice
            MPI_Request known = request.known_to_mpi();
            real<Fn::MPI_Cancel>(&known);
        } else if (was_cancelled(status) && !starts_again) {
            return true; // by the program
        }
    }
    // MPICH 4.2 gives the status of a persistent request only once.
    if (!complete && !completes_in_time(request, status)) {
        return false;
    }
    const bool cancelled = request.kind == Request::Kind::receive && was_cancelled(status);
    request.state = cancelled ? Request::State::cancelled : Request::State::completed_early;
    if (request.state == Request::State::completed_early) {
        keep_data(request, status);
    }
    stopped.push_back(&request);
    return true;
}

// Posts a cancelled receive again under the same handle.
void post_again(Request &request) {
    if (request.persistent) {
        MPI_Request known = request.known_to_mpi();
        real<Fn::MPI_Wait>(&known, MPI_STATUS_IGNORE);
        real<Fn::MPI_Start>(&known);
        return;
    }
    const Block &block = request.arrivals.front();
    MPI_Request posted = MPI_REQUEST_NULL;
    real<Fn::MPI_Irecv>(block.address, static_cast<int>(block.count), block.type, request.peer,
                        request.tag, request.comm, &posted);
    if (request.stand_in != MPI_REQUEST_NULL) {
        real<Fn::MPI_Wait>(&request.stand_in, MPI_STATUS_IGNORE);
    } else {
        ++RequestTable::instance().stand_ins;
    }
    request.stand_in = posted;
}

// Ends the use of a persistent receive, and keeps its outcome for the program. MPICH 4.2 gives the
// status of such a request only once, and is_complete() has had it.
void hold_outcome(Request &request) {
    MPI_Request known = request.known_to_mpi();
    request.error = real<Fn::MPI_Wait>(&known, MPI_STATUS_IGNORE);
    if (request.stand_in == MPI_REQUEST_NULL) {
        ++RequestTable::instance().stand_ins;
    }
    request.stand_in = completed_request(request.status, request.error);
}

// Undoes stop(), and delivers again what the restore has overwritten.
void go_on(Request &request) {
    if (request.is_apart() || request.kind == Request::Kind::generalized) {
        request.state = Request::State::active;
        return;
    }
    if (request.state == Request::State::cancelled) {
        post_again(request);
    } else {
        deliver_kept(request);
        if (request.persistent && request.kind == Request::Kind::receive) {
            hold_outcome(request);
        }
    }
    request.state = Request::State::active;
}

// Sets a request aside that the re-execution will start again. MPI keeps one that has ended, unless
// it is persistent, so that the program gets its result, and its error handler is called, at the
// wait.
void suspend(Request &request) {
    RequestTable &table = RequestTable::instance();
    if (!request.persistent && request.state == Request::State::completed_early) {
        return;
    }
    MPI_Request known = request.known_to_mpi();
    MPI_Request held = request.handle;
    if (!request.persistent) {
        table.rename(request, MPI_REQUEST_NULL); // before MPI can give the handle to another thread
    }
    if (!request.is_apart() && request.kind != Request::Kind::generalized) {
        request.error = real<Fn::MPI_Wait>(&known, MPI_STATUS_IGNORE);
    }
    if (request.persistent) {
        request.suspended_id = request.id;
        request.suspended = request.state;
        complete(request);
    } else if (request.stand_in != MPI_REQUEST_NULL) {
        real<Fn::MPI_Wait>(&held, MPI_STATUS_IGNORE);
        request.stand_in = MPI_REQUEST_NULL;
        --table.stand_ins;
    }
}

void resume_all(const ReplayRange &range, bool restored) {
    for (Request *request : stopped) {
        if (restored && will_be_started_again(range, *request)) {
            suspend(*request);
        } else {
            go_on(*request);
        }
    }
    stopped.clear();
}

// Drops requests that only the log of a broken-off replay completes, and resets what the program
// had been given of the others, since its memory and handles are as they were.
void take_back(const ReplayRange &range) {
    for (Request *request : RequestTable::instance().concerned(range)) {
        const bool starts_again = will_be_started_again(range, *request);
        if (request->state == Request::State::replayed && starts_again) {
            complete(*request);
            continue;
        }
        request->reported = request->reported && !starts_again;
        request->parts_delivered.clear();
        std::ranges::replace(request->parts_ready, Request::Ready::said,
                             Request::Ready::said_before);
        request->freed = request->freed && !starts_again && !range.covers(request->freed_at);
    }
}

} // namespace

const char *quiesce(cd_handle cd) {
    const ReentryGuard inside;
    const ReplayRange range(cd);
    stopped.clear();
    std::vector<Request *> pending;
    for (Request *request : RequestTable::instance().concerned(range)) {
        if (request->state != Request::State::active) {
            continue;
        }
        if (request->reported && !will_be_started_again(range, *request)) {
            return hindrance(*request,
                             "is older than the CD, and MPI_Request_get_status reported it "
                             "complete: wait for it first");
        }
        pending.push_back(request);
    }
    for (auto at = pending.rbegin(); at != pending.rend(); ++at) {
        Request *const request = *at;
        if (!stop(range, *request)) {
            std::ranges::reverse(stopped);
            resume_all(range, false);
            return hindrance(*request, "works on the program's memory and did not complete within "
                                       "CD_QUIESCE_TIMEOUT seconds: complete it first");
        }
    }
    std::ranges::reverse(stopped);
    return nullptr;
}

void resume(cd_handle cd, bool restored) {
    const ReentryGuard inside;
    const ReplayRange range(cd);
    resume_all(range, restored);
    if (restored) {
        take_back(range);
    }
}

void fail_requests_of_deleted_log(cd_handle cd) {
    const ReentryGuard inside;
    const ReplayRange range(cd);
    int failed = 0;
    for (Request *request : RequestTable::instance().concerned(range)) {
        if (request->state == Request::State::replayed && range.covers(request->place) &&
            still_brings_data(*request)) {
            complete_in_mpi(*request, {}, lost);
            ++failed;
        }
    }
    if (failed > 0) {
        report_deleted_log(failed);
    }
}

void fail_without_log(const Call &call, const std::vector<Request *> &requests) {
    const bool a_log_may_bring_more = __atomic_load_n(cd_log_replays(), __ATOMIC_RELAXED) != 0;
    for (Request *request : requests) {
        if (request == nullptr || request->state != Request::State::replayed ||
            a_log_may_bring_more) {
            continue;
        }
        if (!still_brings_data(*request)) {
            complete_in_mpi(*request, {}, MPI_SUCCESS);
            continue;
        }
        report_unanswerable(call.fn, call.site,
                            "the log with the data of a request is gone, or belongs to another CD. "
                            "Wait for requests in the CD that started them");
        complete_in_mpi(*request, {}, lost);
    }
}

} // namespace cd::logger
