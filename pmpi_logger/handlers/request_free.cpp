// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/request_free.h"

#include "log_entry/writer.h"
#include "objects/deferred_free.h"
#include "record_all/record_all.h"
#include "replay/divergence.h"
#include "replay/match.h"
#include "replay/quiesce.h"

#include <vector>

namespace cd::logger {
namespace {

int free_persistent(Request &request) {
    MPI_Request handle = request.handle;
    forget_made_anew(request);
    RequestTable::instance().remove(request);
    return real<Fn::MPI_Request_free>(&handle);
}

// Frees a persistent request once nothing needs it any more.
void free_if_unwanted(Request &request) {
    bool unwanted = false;
    RequestTable::instance().change(request, [&](Request &freed) {
        unwanted = freed.freed && !freed.goes_with_log && freed.state == Request::State::inactive;
        freed.freed = freed.freed && !unwanted;
    });
    if (unwanted) {
        free_persistent(request);
    }
}

// Returns true if the program waits for data of the request. No log has a free of such a one.
bool is_to_bring_data(const Request &request) {
    return request.state != Request::State::inactive && still_brings_data(request) &&
           request.peer != MPI_PROC_NULL;
}

// Frees a request that only MPI knows.
int free_untracked(const Call &call, int mode, MPI_Request *handle) {
    if (mode == CD_LOG_REPLAYING) {
        *handle = MPI_REQUEST_NULL; // older than the CD, and freed by the first execution
        return MPI_SUCCESS;
    }
    const int result = call_mpi<Fn::MPI_Request_free>(handle);
    if (mode == CD_LOG_RECORDING) {
        EntryWriter(call, result).write();
    }
    return result;
}

// Asks MPI whether the request is complete, or waits.
bool ends(const Request &request, bool at_end, MPI_Status &status, int &result) {
    MPI_Request known = request.known_to_mpi();
    int complete = 0;
    if (at_end && request.kind == Request::Kind::receive) {
        real<Fn::MPI_Cancel>(&known);
    }
    do {
        result = real<Fn::MPI_Test>(&known, &complete, &status);
    } while (at_end && complete == 0);
    return complete != 0;
}

bool ends_in_mpi(Request &request, bool at_end) {
    RequestTable &table = RequestTable::instance();
    std::vector<Request *> ending;
    table.find_ending(&request.handle, 1, ending);
    MPI_Status status = {};
    int result = MPI_SUCCESS;
    if (!ends(request, at_end, status, result)) {
        table.give_back(ending);
        return false;
    }
    const bool is_missing = is_to_bring_data(request) && cd_log_mode() == CD_LOG_RECORDING;
    {
        const auto types = table.hold_types();
        deliver_staged(request, status, result);
    }
    if (is_missing && !at_end) { // freed before the CD logged
        RecordFailure::lose(Fn::MPI_Request_free);
    }
    if (request.persistent) {
        table.give_back(ending);
    }
    complete(request);
    return true;
}

} // namespace

int RequestFree::run(const void *site, MPI_Request *handle) {
    const int mode = Logging::mode();
    const ReentryGuard inside;
    RequestTable &table = RequestTable::instance();
    Request *request = table.find(*handle);
    Call call(Fn::MPI_Request_free, site);
    cd_log_place place = {};
    cd_log_here(&place);
    int result = MPI_SUCCESS;
    if (mode != CD_LOG_OFF && request != nullptr && !RecordAll::records()) {
        if (request->kind == Request::Kind::generalized) {
            return refuse(call.fn, "MPI would call the functions of the request at any time: wait "
                                   "for it instead");
        }
        if (is_to_bring_data(*request)) {
            return refuse(call.fn, "it is to bring data: complete it first");
        }
    }
    if (mode == CD_LOG_REPLAYING) {
        const std::optional<EntryReader> entry = next_entry(call, result);
        if (!entry) {
            return result == run_live ? run(site, handle) : result;
        }
        if (entry->result() != MPI_SUCCESS) {
            return raise_logged(MPI_COMM_NULL, entry->result());
        }
        FreedHandles::add_again();
    }
    if (request != nullptr && RecordAll::records()) {
        table.remove(*request);
        request = nullptr;
    }
    if (request == nullptr) {
        return free_untracked(call, mode, handle);
    }
    if (mode == CD_LOG_RECORDING) {
        EntryWriter(call, MPI_SUCCESS).write();
    }
    *handle = MPI_REQUEST_NULL;
    if (request->persistent && mode == CD_LOG_OFF && request->state != Request::State::active) {
        return free_persistent(*request);
    }
    table.change(*request, [&](Request &freed) {
        freed.freed = true;
        freed.freed_at = place;
    });
    if (request->persistent && mode != CD_LOG_OFF) {
        free_with_log(*request);
    }
    if (request->state == Request::State::replayed) {
        complete(*request);
    } else if (mode != CD_LOG_REPLAYING) { // nothing can be recorded then
        sweep(false);
    }
    return MPI_SUCCESS;
}

// Frees the request with the log, since a re-execution uses it again.
void RequestFree::free_with_log(Request &request) {
    if (request.goes_with_log) {
        return;
    }
    request.goes_with_log = true;
    when_forgotten(request.freed_at, [freed = request.handle] {
        RequestTable &table = RequestTable::instance();
        if (Request *last = table.find(freed)) {
            table.change(*last, [](Request &kept) { kept.goes_with_log = false; });
            free_if_unwanted(*last);
        }
    });
}

void RequestFree::sweep(bool at_end) {
    RequestTable &table = RequestTable::instance();
    for (Request *request : at_end ? table.all() : table.of_this_thread()) {
        if (!request->freed) {
            continue;
        }
        const bool persistent = request->persistent; // one that is not is gone when it ends
        bool is_over = true;
        if (request->state == Request::State::active) {
            is_over = ends_in_mpi(*request, at_end);
        } else if (request->state == Request::State::replayed) {
            complete(*request);
        }
        if (is_over && persistent) {
            free_if_unwanted(*request);
        }
    }
}

} // namespace cd::logger
