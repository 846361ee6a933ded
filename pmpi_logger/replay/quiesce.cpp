// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "replay/quiesce.h"

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

double patience() { return seconds_in("CD_QUIESCE_TIMEOUT", 10); }

// Asks MPI without ending the request, as the program holds its handle.
bool is_complete(const Request &request, MPI_Status &status) {
    int complete = 0;
    real<Fn::MPI_Request_get_status>(request.known_to_mpi(), &complete, &status);
    return complete != 0;
}

bool completes_in_time(const Request &request, MPI_Status &status) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience());
    while (!is_complete(request, status)) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
    }
    return true;
}

bool will_be_started_again(const Reach &reach, const Request &request) {
    return request.logged() && reach.covers(request.place);
}

void keep_data(Request &request, const MPI_Status &status) {
    request.data.clear();
    request.status = status;
    if (request.told) {
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
bool stop(const Reach &reach, Request &request) {
    if (request.is_apart()) {
        if (request.persistent) { // the re-execution comes to earlier uses of it first
            stopped.push_back(&request);
        }
        return true;
    }
    const bool starts_again = will_be_started_again(reach, request);
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
    if (request.kind == Request::Kind::receive && can_be_posted_again) {
        if (!is_complete(request, status)) { // Open MPI crashes when one is cancelled twice
            MPI_Request known = request.known_to_mpi();
            real<Fn::MPI_Cancel>(&known);
        } else if (was_cancelled(status) && !starts_again) {
            return true; // by the program
        }
    }
    if (!completes_in_time(request, status)) {
        return false;
    }
    const bool cancelled = request.kind == Request::Kind::receive && was_cancelled(status);
    request.state = cancelled ? Request::State::cancelled : Request::State::parked;
    if (request.state == Request::State::parked) {
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
    }
    request.state = Request::State::active;
}

// Sets a request aside that the re-execution will start again. MPI keeps one that has ended, unless
// it is persistent, so that the program gets its result, and its error handler is called, at the
// wait.
void set_aside(Request &request) {
    RequestTable &table = RequestTable::instance();
    if (!request.persistent && request.state == Request::State::parked) {
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
        request.set_aside_id = request.id;
        request.set_aside = request.state;
        complete(request);
    } else if (request.stand_in != MPI_REQUEST_NULL) {
        real<Fn::MPI_Wait>(&held, MPI_STATUS_IGNORE);
        request.stand_in = MPI_REQUEST_NULL;
        --table.stand_ins;
    }
}

void resume_all(const Reach &reach, bool restored) {
    for (Request *request : stopped) {
        if (restored && will_be_started_again(reach, *request)) {
            set_aside(*request);
        } else {
            go_on(*request);
        }
    }
    stopped.clear();
}

// Drops requests that only the log of a broken-off replay completes, and resets what the program
// had been given of the others, since its memory and handles are as they were.
void take_back(const Reach &reach) {
    for (Request *request : RequestTable::instance().concerned(reach)) {
        const bool starts_again = will_be_started_again(reach, *request);
        if (request->state == Request::State::replayed && starts_again) {
            complete(*request);
            continue;
        }
        request->told = request->told && !starts_again;
        request->parts_delivered.clear();
        std::ranges::replace(request->parts_ready, Request::Ready::said,
                             Request::Ready::said_before);
        request->freed = request->freed && !starts_again && !reach.covers(request->freed_at);
    }
}

} // namespace

const char *quiesce(cd_handle cd) {
    const ReentryGuard inside;
    const Reach reach(cd);
    stopped.clear();
    std::vector<Request *> pending;
    for (Request *request : RequestTable::instance().concerned(reach)) {
        if (request->state != Request::State::active) {
            continue;
        }
        if (request->told && !will_be_started_again(reach, *request)) {
            return "MPI_Request_get_status has reported a request complete that is older than the "
                   "CD: wait for it first";
        }
        pending.push_back(request);
    }
    for (auto at = pending.rbegin(); at != pending.rend(); ++at) {
        Request *const request = *at;
        if (!stop(reach, *request)) {
            std::ranges::reverse(stopped);
            resume_all(reach, false);
            thread_local char reason[256];
            std::snprintf(reason, sizeof reason,
                          "a request that is under way and works on the program's memory did not "
                          "complete within %g s (CD_QUIESCE_TIMEOUT)",
                          patience());
            return reason;
        }
    }
    std::ranges::reverse(stopped);
    return nullptr;
}

void resume(cd_handle cd, bool restored) {
    const ReentryGuard inside;
    const Reach reach(cd);
    resume_all(reach, restored);
    if (restored) {
        take_back(reach);
    }
}

void fail_requests_of_deleted_log(cd_handle cd) {
    const ReentryGuard inside;
    const Reach reach(cd);
    int failed = 0;
    for (Request *request : RequestTable::instance().concerned(reach)) {
        if (request->state == Request::State::replayed && reach.covers(request->place) &&
            still_brings_data(*request)) {
            complete_in_mpi(*request, {}, lost);
            ++failed;
        }
    }
    if (failed > 0) {
        complain_of_deleted_log(failed);
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
        complain_unknown(call.fn, call.site,
                         "the log that has what it brings is gone, or belongs to another CD. "
                         "Wait for a request in the CD that started it");
        complete_in_mpi(*request, {}, lost);
    }
}

} // namespace cd::logger
