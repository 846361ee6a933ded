// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/request_free.h"

#include "log_entry/writer.h"
#include "objects/deferred_free.h"
#include "record_all/record_all.h"
#include "replay/divergence.h"
#include "replay/match.h"
#include "requests/delivery.h"
#include "requests/request_table.h"

#include <vector>

namespace cd::logger {
namespace {

// Frees a request that only MPI knows.
int free_untracked(const Call &call, int mode, MPI_Request *handle) {
    return record_result(
        call, mode, [&] { return call_mpi<Fn::MPI_Request_free>(handle); },
        [&](int recorded) {
            if (recorded != MPI_SUCCESS) {
                return raise_logged(MPI_COMM_NULL, recorded);
            }
            *handle = MPI_REQUEST_NULL; // older than the CD, and freed by the first execution
            return MPI_SUCCESS;
        });
}

// Returns whether MPI can have the request, as no restore stops or repeats it.
bool is_only_of_mpi(const Request &request, int mode) {
    return RecordAll::records() || (mode == CD_LOG_OFF && !request.logged() && !request.is_apart());
}

bool cannot_be_freed(const Request &request) {
    const bool is_send = request.kind == Request::Kind::send && !request.persistent;
    return request.state != Request::State::inactive && !is_send && request.peer != MPI_PROC_NULL;
}

int free_persistent(Request &request) {
    MPI_Request handle = request.handle;
    forget_made_anew(request);
    RequestTable::instance().remove(request);
    return real<Fn::MPI_Request_free>(&handle);
}

// Frees a persistent request once the log is gone, since a re-execution uses it again.
void free_with_log(const cd_log_place &place, MPI_Request handle) {
    when_forgotten(place, [handle] {
        Request *const request = RequestTable::instance().find(handle);
        if (request != nullptr && request->freed) { // no restore has given it back
            free_persistent(*request);
        }
    });
}

// Returns whether MPI has completed the send, or waits.
bool has_ended(Request &request, bool at_end) {
    RequestTable &table = RequestTable::instance();
    std::vector<Request *> ending;
    table.find_ending(&request.handle, 1, ending); // another thread may get the handle at once
    MPI_Request known = request.known_to_mpi();
    int complete = 1;
    if (at_end) {
        real<Fn::MPI_Wait>(&known, MPI_STATUS_IGNORE);
    } else {
        real<Fn::MPI_Test>(&known, &complete, MPI_STATUS_IGNORE);
    }
    if (complete == 0) {
        table.give_back(ending);
    }
    return complete != 0;
}

} // namespace

int RequestFree::run(const void *site, MPI_Request *handle) {
    const int mode = Logging::mode();
    const ReentryGuard inside;
    RequestTable &table = RequestTable::instance();
    Request *request = table.find(*handle);
    const Call call(Fn::MPI_Request_free, site);
    if (request != nullptr && is_only_of_mpi(*request, mode)) {
        forget_made_anew(*request);
        table.remove(*request);
        request = nullptr;
    }
    if (request != nullptr && cannot_be_freed(*request)) {
        return refuse(call.fn, "the request is under way: complete it first");
    }
    if (request == nullptr) {
        return free_untracked(call, mode, handle);
    }
    bool replayed = false;
    const auto accept = [&](int recorded) {
        replayed = true;
        return recorded;
    };
    if (const int failure = record_result(
            call, mode, [] { return MPI_SUCCESS; }, accept)) {
        return failure;
    }
    *handle = MPI_REQUEST_NULL;
    if (request->persistent && mode == CD_LOG_OFF) {
        return free_persistent(*request);
    }
    const cd_log_place place = last_entry().value_or(cd_log_place{});
    table.change(*request, [&](Request &freed) {
        freed.freed = true;
        freed.freed_at = place;
    });
    if (!request->persistent && request->state == Request::State::replayed) {
        complete(*request);
    } else if (request->persistent && !replayed) {
        free_with_log(place, request->handle);
    } else if (!replayed) {
        sweep(false);
    }
    return MPI_SUCCESS;
}

void RequestFree::sweep(bool at_end) {
    RequestTable &table = RequestTable::instance();
    for (Request *request : at_end ? table.all() : table.of_this_thread()) {
        if (request->freed && !request->persistent && has_ended(*request, at_end)) {
            complete(*request);
        }
    }
}

} // namespace cd::logger
