// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "families/starts.h"

#include "entry/writer.h"
#include "replay/match.h"
#include "requests/completion.h"
#include "requests/placeholder.h"
#include "whole_program/whole_program.h"

namespace cd::logger {
namespace {

// What a re-execution may have at other addresses.
void describe(const Call &call, Request::Kind kind, Request &request) {
    request.kind = kind;
    request.arrivals.clear();
    call.arrival->received(call.arguments, request.arrivals);
    if (kind == Request::Kind::collective && call.output_count > 0) {
        // A communicator that is valid when the request is complete.
        const Output &made = call.outputs[0];
        request.arrivals.push_back({made.to, static_cast<int64_t>(made.size), MPI_BYTE});
    }
    if (kind == Request::Kind::receive) {
        request.comm = call.arguments.comm;
        request.peer = static_cast<int>(call.words[2]); // count, type, peer, tag: MPI_Irecv's order
        request.tag = static_cast<int>(call.words[3]);
    }
}

} // namespace

void Starting::track(const Call &call, Request::Kind kind, MPI_Request handle) {
    const Inside inside;
    if (handle != MPI_REQUEST_NULL) {
        describe(call, kind, RequestTable::instance().add(handle));
    }
}

Shadow Starting::shadow_of(const Call &call) {
    const Inside inside;
    if (!shadows_wanted() || WholeProgram::records()) {
        return {};
    }
    return Shadow::of({const_cast<void *>(call.arguments.send_buf), call.arguments.send_count,
                       call.arguments.send_type});
}

void Starting::record(const Call &call, Request::Kind kind, int result, MPI_Request handle,
                      Shadow &&shadow) {
    const Inside inside;
    RequestTable &table = RequestTable::instance();
    const uint64_t id = result == MPI_SUCCESS ? table.next_number() : 0;
    cd_log_place place = {};
    cd_log_here(&place);
    EntryWriter writer(call, result);
    writer.add_outputs(call);
    writer.add(id);
    writer.write();
    if (id != 0 && handle != MPI_REQUEST_NULL) {
        Request &request = table.add(handle);
        describe(call, kind, request);
        request.shadow = std::move(shadow);
        request.logged = true;
        request.place = place;
        table.number(request, id);
    }
}

int Starting::replay(const Call &call, MPI_Request *handle, Request *&again) {
    const Inside inside;
    cd_log_place place = {};
    cd_log_here(&place);
    int result = MPI_SUCCESS;
    std::optional<EntryReader> entry = next_entry(call, result);
    if (!entry) {
        return result;
    }
    entry->take_outputs(call);
    const auto id = entry->take<uint64_t>();
    if (entry->result() != MPI_SUCCESS) {
        return raise(call.arguments.comm, entry->result());
    }
    RequestTable &table = RequestTable::instance();
    Request *request = table.find(id);
    if (request == nullptr) {
        *handle = take_placeholder();
        request = &table.add(*handle);
        table.number(*request, id);
        describe(call, Request::Kind::send, *request);
        request->state = Request::State::replayed;
        request->logged = true;
        request->place = place;
        return MPI_SUCCESS;
    }
    describe(call, request->kind, *request);
    switch (request->state) {
    case Request::State::cancelled:
        again = request;
        break;
    case Request::State::parked:
        deliver_kept(*request);
        *handle = completed_request(request->status);
        table.rename(*request, *handle);
        request->state = Request::State::active;
        break;
    default: // still under way
        *handle = request->handle;
        break;
    }
    return MPI_SUCCESS;
}

void Starting::started_again(Request &again, const Call &, MPI_Request handle) {
    RequestTable::instance().rename(again, handle);
    again.state = Request::State::active;
}

} // namespace cd::logger
