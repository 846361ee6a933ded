// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/nonblocking.h"

#include "log_entry/writer.h"
#include "mpi/differences.h"
#include "mpi/fortran_real.h"
#include "payload/pack.h"
#include "record_all/record_all.h"
#include "replay/match.h"
#include "requests/delivery.h"
#include "requests/replayed_request.h"
#include "rma/window_table.h"

namespace cd::logger {
namespace {

// Positions among the words of MPI_Irecv: count, type, peer, tag.
int peer_of(const Call &call) { return static_cast<int>(call.words[2]); }
int tag_of(const Call &call) { return static_cast<int>(call.words[3]); }

// Returns the place of a communicator that exists when the request completes.
Block made_by(const Call &call, Request::Kind kind) {
    if (kind != Request::Kind::collective || call.output_count == 0) {
        return {};
    }
    if (fortran_reads_handles_at_once && is_from_fortran(call.site)) {
        return {}; // the place does not exist later
    }
    const Output &made = call.outputs[0];
    return {made.to, static_cast<int64_t>(made.size), MPI_BYTE};
}

Purpose purpose_of(const Call &call, Request::Kind kind) {
    Purpose purpose;
    purpose.kind = kind;
    call.arrival->received(call.arguments, purpose.arrivals);
    if (const Block made = made_by(call, kind); made.count > 0) {
        purpose.arrivals.push_back(made);
    }
    if (kind == Request::Kind::receive) {
        purpose.comm = call.arguments.comm;
        purpose.peer = peer_of(call);
        purpose.tag = tag_of(call);
    }
    return purpose;
}

// Returns what a request that was complete from the start has brought. A receive has brought
// nothing: there was no sender.
Blocks brought_at_once(Purpose &&purpose) {
    const bool brings =
        purpose.kind == Request::Kind::collective || purpose.kind == Request::Kind::file;
    return brings ? std::move(purpose.arrivals) : Blocks();
}

} // namespace

void NonblockingBase::track(const Call &call, Request::Kind kind, MPI_Request handle) {
    const ReentryGuard inside;
    if (handle != MPI_REQUEST_NULL && !complete_from_start(handle)) {
        RequestTable::instance().add(handle, purpose_of(call, kind));
    }
}

void NonblockingBase::track_receive(MPI_Request handle, const Message &message) {
    if (handle != MPI_REQUEST_NULL && !complete_from_start(handle)) {
        RequestTable::instance().add(handle, message);
    }
}

SendCopy NonblockingBase::send_copy_of(const Call &call) {
    const ReentryGuard inside;
    if (!send_copies_wanted() || RecordAll::records()) {
        return {};
    }
    const Block sent = {const_cast<void *>(call.arguments.send_buf), call.arguments.send_count,
                        call.arguments.send_type};
    if (sent.address == nullptr) {
        const DatatypeFacts &facts = facts_of(sent.type);
        const auto count = static_cast<int64_t>(call.words[0]); // also of what goes to nobody
        if (are_nowhere(start_of(sent.address, facts), bytes_in(count, facts))) {
            return {};
        }
    }
    return SendCopy::of(sent);
}

Staging NonblockingBase::staging_of(const Call &call, Request::Kind kind, bool has_send_buf) {
    const ReentryGuard inside;
    if (!send_copies_wanted() || RecordAll::records()) {
        return {};
    }
    return Staging::of(call, has_send_buf, made_by(call, kind), kind != Request::Kind::exchange);
}

void NonblockingBase::record_message(const Call &call, Request::Kind kind, int result,
                                     MPI_Request handle, SendCopy &copy) {
    const ReentryGuard inside;
    uint64_t id = 0;
    const bool at_once = handle == MPI_REQUEST_NULL || complete_from_start(handle);
    if (result == MPI_SUCCESS && !at_once) {
        cd_log_place place = {};
        cd_log_here(&place);
        Message message;
        if (kind == Request::Kind::receive) {
            message = {kind, Arrivals::received(call.arguments), call.arguments.comm, peer_of(call),
                       tag_of(call)};
        }
        id = RequestTable::instance().add_started(handle, place, message, std::move(copy));
    }
    EntryWriter writer(call, result);
    writer.add(id);
    if (result == MPI_SUCCESS && at_once) { // and has brought nothing, as there was nobody to send
        writer.add(handle);
    }
    writer.write();
}

void NonblockingBase::keep_sent(MPI_Win handle, int target, SendCopy &&sent) {
    Window *const window = sent.empty() ? nullptr : WindowTable::instance().find(handle);
    if (window != nullptr) {
        window->keep(target, std::move(sent));
    }
}

void NonblockingBase::record(const Call &call, Request::Kind kind, int result, MPI_Request handle,
                             Staging &&staging) {
    const ReentryGuard inside;
    const bool at_once =
        result == MPI_SUCCESS && (handle == MPI_REQUEST_NULL || complete_from_start(handle));
    uint64_t id = 0;
    Purpose purpose = purpose_of(call, kind);
    Blocks brought;
    if (at_once) {
        brought = brought_at_once(std::move(purpose));
        staging.deliver(brought, everything);
    } else if (result == MPI_SUCCESS) {
        cd_log_place place = {};
        cd_log_here(&place);
        id = RequestTable::instance()
                 .add_started(handle, place, std::move(purpose), std::move(staging))
                 .id;
    }
    EntryWriter writer(call, result);
    writer.add_outputs(call);
    writer.add(id);
    if (at_once) {
        writer.add(handle);
        writer.add_data(brought, everything);
    }
    writer.write();
}

int NonblockingBase::replay(const Call &call, Request::Kind kind, MPI_Request *handle,
                            Request *&again) {
    const ReentryGuard inside;
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
        return raise_logged(call.arguments.comm, entry->result());
    }
    if (id == 0) {
        *handle = entry->take<MPI_Request>();
        if (!entry->take_data(brought_at_once(purpose_of(call, kind)))) {
            return not_matching(call, *entry, "how much data is received");
        }
        return MPI_SUCCESS;
    }
    RequestTable &table = RequestTable::instance();
    Request *request = table.find(id);
    if (request == nullptr) {
        *handle = kind == Request::Kind::generalized ? take_generalized(is_from_fortran(call.site))
                                                     : take_placeholder();
        request = &table.add(*handle, purpose_of(call, kind));
        table.started(*request, id, place);
        request->state = Request::State::replayed;
        return MPI_SUCCESS;
    }
    // The buffers of a re-execution may lie elsewhere.
    Purpose purpose = purpose_of(call, request->kind);
    table.change(*request,
                 [&](Request &found) { static_cast<Purpose &>(found) = std::move(purpose); });
    switch (request->state) {
    case Request::State::cancelled:
        again = request;
        break;
    case Request::State::completed_early:
        deliver_kept(*request);
        *handle = request->handle;
        request->state = Request::State::active;
        break;
    default: // still under way
        *handle = request->handle;
        break;
    }
    return MPI_SUCCESS;
}

void NonblockingBase::started_again(Request &again, MPI_Request handle) {
    RequestTable::instance().rename(again, handle);
    again.state = Request::State::active;
}

} // namespace cd::logger
