// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "replay/quiesce.h"

#include "mpi/real.h"
#include "mpi/reentry_guard.h"
#include "mpi/thread_data.h"
#include "objects/deferred_free.h"
#include "payload/pack.h"
#include "payload/status.h"
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

struct Reason {
    char text[256] = "";
};

std::chrono::duration<double> patience() {
    return std::chrono::duration<double>(seconds_in("CD_QUIESCE_TIMEOUT", 10));
}

// Asks MPI without ending the request, as the program holds its handle.
bool is_complete(const Request &request, MPI_Status &status) {
    int complete = 0;
    real<Fn::MPI_Request_get_status>(request.known_to_mpi(), &complete, &status);
    return complete != 0;
}

const char *what_waits(const Request &request) {
    switch (request.kind) {
    case Request::Kind::send:
        return "send without a shadow copy";
    case Request::Kind::file:
        return "file operation";
    case Request::Kind::receive:
        return "receive on a communicator that has been freed";
    default:
        return "collective operation, matched receive or exchange";
    }
}

bool completes_in_time(const Request &request, MPI_Status &status) {
    const auto end = std::chrono::steady_clock::now() + patience();
    while (!is_complete(request, status)) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
    }
    return true;
}

bool cannot_be_posted_again(const Request &request) {
    return !request.persistent && request.comm == MPI_COMM_NULL;
}

bool will_be_started_again(const Reach &reach, const Request &request) {
    return request.logged() && reach.covers(request.place);
}

// Returns true if the program has had the data since before the CD's point in time.
bool stays_delivered(const Reach &reach, const Request &request) {
    return request.told != 0 && reach.begins_after(request.told);
}

void keep_data(const Reach &reach, Request &request, const MPI_Status &status) {
    request.data.clear();
    request.status = status;
    const bool come_again = request.told_at.family != 0 && reach.covers(request.told_at);
    request.only_in_log = come_again;
    if (come_again || stays_delivered(reach, request)) {
        return; // they are not needed, and the program may have freed the memory
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
    MPI_Status status = {};
    switch (request.kind) {
    case Request::Kind::generalized:
        return true;
    case Request::Kind::send:
        // The buffer of an older send may not change while it is under way, so a restore writes the
        // same bytes. A send that will be started again needs the copy.
        if (!will_be_started_again(reach, request)) {
            return true;
        }
        break;
    case Request::Kind::receive:
        if (cannot_be_posted_again(request)) {
            break;
        }
        if (!is_complete(request, status)) { // Open MPI crashes when one is cancelled twice
            MPI_Request known = request.known_to_mpi();
            real<Fn::MPI_Cancel>(&known);
        } else if (was_cancelled(status) && !will_be_started_again(reach, request)) {
            return true; // by the program
        }
        break;
    default:
        break;
    }
    if (!completes_in_time(request, status)) {
        return false;
    }
    const bool cancelled = request.kind == Request::Kind::receive && was_cancelled(status);
    request.state = cancelled ? Request::State::cancelled : Request::State::parked;
    if (request.state == Request::State::parked) {
        keep_data(reach, request, status);
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
void go_on(const Reach &reach, Request &request) {
    if (request.is_apart()) {
        return;
    }
    if (request.state == Request::State::cancelled) {
        post_again(request);
    } else if (!stays_delivered(reach, request)) {
        deliver_kept(request);
    }
    request.state = Request::State::active;
}

// Frees the request once no log has its start, since no re-execution will come to it any more. Does
// not wait for it, as that would call the program's error handler.
void end_with_log(Request &request) {
    if (request.goes_with_log) {
        return;
    }
    request.goes_with_log = true;
    when_forgotten(request.place, [id = request.id] {
        Request *const left = RequestTable::instance().find(id);
        if (left == nullptr ||
            (left->state != Request::State::parked && left->state != Request::State::cancelled)) {
            return;
        }
        const bool mpi_has_it = left->state == Request::State::parked;
        MPI_Request known = left->known_to_mpi();
        complete(*left);
        if (mpi_has_it) {
            real<Fn::MPI_Request_free>(&known);
        }
    });
}

// Sets a request aside that the re-execution will start again. MPI keeps one that has ended, unless
// it is persistent, so that the program gets its result, and its error handler is called, at the
// wait.
void set_aside(Request &request) {
    RequestTable &table = RequestTable::instance();
    if (!request.persistent) {
        end_with_log(request);
        if (request.state == Request::State::parked) {
            return;
        }
    }
    MPI_Request known = request.known_to_mpi();
    MPI_Request held = request.handle;
    if (!request.persistent) {
        table.rename(request, MPI_REQUEST_NULL); // before MPI can give the handle to another thread
    }
    if (!request.is_apart()) {
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
            go_on(reach, *request);
        }
    }
    stopped.clear();
}

// Drops requests that only the log of a broken-off replay completes.
void drop_replayed(const Reach &reach) {
    for (Request *request : RequestTable::instance().concerned(reach)) {
        if (request->state == Request::State::replayed && will_be_started_again(reach, *request)) {
            complete(*request);
        }
    }
}

// Resets what the program had been given, since its memory and handles are as they were.
void take_back(const Reach &reach) {
    for (Request *request : RequestTable::instance().concerned(reach)) {
        request->delivered = stays_delivered(reach, *request);
        if (!request->delivered) {
            request->told = 0;
            request->told_at = {};
        }
        request->parts_delivered.clear();
        std::ranges::replace(request->parts_ready, Request::Ready::said,
                             Request::Ready::said_before);
    }
    RequestTable::instance().take_back_frees(reach);
}

MPI_Status empty_status() {
    MPI_Status status = {};
    real<Fn::MPI_Status_set_elements>(&status, MPI_BYTE, 0);
    real<Fn::MPI_Status_set_cancelled>(&status, 0);
    status.MPI_SOURCE = MPI_ANY_SOURCE;
    status.MPI_TAG = MPI_ANY_TAG;
    return status;
}

} // namespace

const char *quiesce(cd_handle cd) {
    const ReentryGuard inside;
    const Reach reach(cd);
    stopped.clear();
    std::vector<Request *> pending;
    for (Request *request : RequestTable::instance().concerned(reach)) {
        if (request->state == Request::State::active) {
            pending.push_back(request);
        }
    }
    for (auto at = pending.rbegin(); at != pending.rend(); ++at) {
        Request *const request = *at;
        if (!stop(reach, *request)) {
            std::ranges::reverse(stopped);
            resume_all(reach, false);
            auto &reason = of_this_thread<Reason>();
            std::snprintf(
                reason.text, sizeof reason.text,
                "a %s that is under way did not complete within %g s (CD_QUIESCE_TIMEOUT)",
                what_waits(*request), patience().count());
            return reason.text;
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
        drop_replayed(reach);
        take_back(reach);
    }
}

void fail_requests_of_deleted_log(cd_handle cd) {
    const ReentryGuard inside;
    const Reach reach(cd);
    int failed = 0;
    for (Request *request : RequestTable::instance().concerned(reach)) {
        const bool waits_for_log = request->state == Request::State::replayed &&
                                   reach.covers(request->place) && still_brings_data(*request);
        if (waits_for_log || request->only_in_log) {
            complete_in_mpi(*request, {}, lost);
            ++failed;
        }
    }
    if (failed > 0) {
        complain_of_deleted_log(failed);
    }
}

bool a_log_may_bring_more() { return __atomic_load_n(cd_log_replays(), __ATOMIC_RELAXED) != 0; }

void fail_without_log(const Call &call, const std::vector<Request *> &requests) {
    for (Request *request : requests) {
        if (request == nullptr || request->state != Request::State::replayed ||
            a_log_may_bring_more()) {
            continue;
        }
        if (!still_brings_data(*request)) {
            complete_in_mpi(*request, empty_status(), MPI_SUCCESS);
            continue;
        }
        complain_unknown(call.fn, call.site,
                         "the log that has what it brings is gone, or belongs to another CD. "
                         "Wait for a request in the CD that started it");
        complete_in_mpi(*request, {}, lost);
    }
}

} // namespace cd::logger
