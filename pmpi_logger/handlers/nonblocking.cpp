// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/nonblocking.h"

#include "log_entry/writer.h"
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

Purpose purpose_of(const Call &call, Request::Kind kind, const Block &made) {
    Purpose purpose;
    purpose.kind = kind;
    call.arrival->received(call.arguments, purpose.arrivals);
    if (made.count > 0) {
        purpose.arrivals.push_back(made);
    }
    if (kind == Request::Kind::receive) {
        purpose.comm = call.arguments.comm;
        purpose.peer = peer_of(call);
        purpose.tag = tag_of(call);
    }
    return purpose;
}

// Returns whether a request that was complete from the start has brought data. A receive has not:
// there was no sender.
bool brings_at_once(Request::Kind kind) {
    return kind == Request::Kind::collective || kind == Request::Kind::file;
}

Blocks brought_at_once(const Call &call, Request::Kind kind, const Block &made) {
    Blocks blocks;
    if (brings_at_once(kind)) {
        call.arrival->received(call.arguments, blocks);
    }
    if (made.count > 0) {
        blocks.push_back(made);
    }
    return blocks;
}

} // namespace

void NonblockingBase::track(const Call &call, Request::Kind kind, MPI_Request handle) {
    const ReentryGuard inside;
    if (handle != MPI_REQUEST_NULL && !complete_from_start(handle)) {
        RequestTable::instance().add(handle, purpose_of(call, kind, made_by(call, kind)));
    }
}

void NonblockingBase::track_receive(MPI_Request handle, const Block &to, MPI_Comm comm, int peer,
                                    int tag) {
    if (handle != MPI_REQUEST_NULL && !complete_from_start(handle)) {
        RequestTable::instance().add(handle, to, comm, peer, tag);
    }
}

SendCopy NonblockingBase::shadow_of(const Call &call) {
    const ReentryGuard inside;
    if (!shadows_wanted() || RecordAll::records()) {
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
    if (!shadows_wanted() || RecordAll::records()) {
        return {};
    }
    return Staging::of(call, has_send_buf, made_by(call, kind), kind != Request::Kind::exchange);
}

Block NonblockingBase::made_by(const Call &call, Request::Kind kind) {
    if (kind != Request::Kind::collective || call.output_count == 0) {
        return {};
    }
#ifdef OPEN_MPI // whose Fortran looks for it at once, and in a place that is gone later
    if (is_from_fortran(call.site)) {
        return {};
    }
#endif
    const Output &made = call.outputs[0];
    return {made.to, static_cast<int64_t>(made.size), MPI_BYTE};
}

void NonblockingBase::record_message(const Call &call, Request::Kind kind, int result,
                                     MPI_Request handle, SendCopy &shadow) {
    const ReentryGuard inside;
    uint64_t id = 0;
    const bool at_once = handle == MPI_REQUEST_NULL || complete_from_start(handle);
    if (result == MPI_SUCCESS && !at_once) {
        cd_log_place place = {};
        cd_log_here(&place);
        RequestTable::Message message;
        message.kind = kind;
        const Block to = Arrivals::received(call.arguments);
        if (kind == Request::Kind::receive) {
            message = {kind, &to, call.arguments.comm, peer_of(call), tag_of(call)};
        }
        id = RequestTable::instance().add_started(handle, place, message, std::move(shadow));
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

Purpose NonblockingBase::purpose_for(const Call &call, Request::Kind kind) {
    RequestTable::instance().reserve_room();
    return purpose_of(call, kind, made_by(call, kind));
}

Request *NonblockingBase::record(const Call &call, Request::Kind kind, int result,
                                 MPI_Request handle, Purpose &&purpose, Staging &&staging) {
    const ReentryGuard inside;
    const bool goes_on =
        result == MPI_SUCCESS && handle != MPI_REQUEST_NULL && !complete_from_start(handle);
    Request *request = nullptr;
    Blocks brought;
    if (goes_on) {
        cd_log_place place = {};
        cd_log_here(&place);
        request = &RequestTable::instance().add_started(handle, place, std::move(purpose),
                                                        std::move(staging));
    } else if (result == MPI_SUCCESS) {
        if (brings_at_once(kind)) {
            brought = std::move(purpose.arrivals);
        }
        staging.deliver(brought, everything);
    }
    EntryWriter writer(call, result);
    writer.add_outputs(call);
    writer.add(request != nullptr ? request->id : uint64_t{0});
    if (result == MPI_SUCCESS && !goes_on) {
        writer.add(handle);
        writer.add_data(brought, everything);
    }
    writer.write();
    if (result == MPI_SUCCESS) {
    }
    return request;
}

namespace {

// Expects the program to complete the generalized request again, perhaps after it waited for it, by
// a handle that MPI has reused.
void hold_another(Request &request, bool of_fortran) {
    RequestTable &table = RequestTable::instance();
    if (request.stand_in == MPI_REQUEST_NULL) {
        request.stand_in = request.handle;
        ++table.stand_ins;
    } else {
        give_generalized(request.handle);
    }
    table.rename(request, take_generalized(of_fortran));
}

} // namespace

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
        if (!entry->take_data(brought_at_once(call, kind, made_by(call, kind)))) {
            return not_matching(call, *entry, "how much data is received");
        }
        return MPI_SUCCESS;
    }
    RequestTable &table = RequestTable::instance();
    Request *request = table.find(id);
    if (request == nullptr) {
        *handle = kind == Request::Kind::generalized ? take_generalized(is_from_fortran(call.site))
                                                     : take_placeholder();
        request = &table.add(*handle, purpose_of(call, kind, made_by(call, kind)));
        table.started(*request, id, place);
        request->state = Request::State::replayed;
        return MPI_SUCCESS;
    }
    // The buffers of a re-execution may lie elsewhere.
    Purpose purpose = purpose_of(call, request->kind, made_by(call, request->kind));
    table.change(*request,
                 [&](Request &found) { static_cast<Purpose &>(found) = std::move(purpose); });
    switch (request->state) {
    case Request::State::cancelled:
        again = request;
        break;
    case Request::State::parked:
        deliver_kept(*request);
        *handle = request->handle;
        request->state = Request::State::active;
        break;
    default: // still under way
        if (request->is_complete) {
            hold_another(*request, is_from_fortran(call.site));
        }
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
