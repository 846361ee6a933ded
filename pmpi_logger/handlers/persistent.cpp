// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/persistent.h"

#include "handlers/request_free.h"
#include "log_entry/writer.h"
#include "payload/pack.h"
#include "replay/match.h"
#include "requests/delivery.h"
#include "requests/replayed_request.h"

#include <new>
#include <vector>

namespace cd::logger {
namespace {

struct Buffers {
    uint64_t sent = 0;
    uint64_t received = 0;
    uint64_t sent_as = 0; // types may contain addresses
    uint64_t received_as = 0;
    bool operator==(const Buffers &) const = default;
};

Buffers buffers_of(const Call &call) {
    const Arguments &a = call.arguments;
    Buffers buffers;
    if (call.matter.sent) {
        buffers.sent = word_of(a.send_buf);
        buffers.sent_as = word_of(a.send_type);
    }
    if (call.matter.received) {
        buffers.received = word_of(a.recv_buf);
        buffers.received_as = word_of(a.recv_type);
    }
    return buffers;
}

Purpose purpose_of(const Call &call, Request::Kind kind) {
    Purpose purpose;
    purpose.kind = kind;
    purpose.persistent = true;
    purpose.comm = call.arguments.comm;
    call.arrival->received(call.arguments, purpose.arrivals);
    call.arrival->sent(call.arguments, purpose.departures);
    if (kind == Request::Kind::partitioned) {
        purpose.parts = purpose.departures.empty() ? purpose.arrivals : purpose.departures;
        purpose.partitions = call.arguments.partitions;
        purpose.departures.clear(); // sent when the program says so
    }
    if (kind == Request::Kind::receive) {
        purpose.departures.clear();
    }
    if (kind == Request::Kind::receive || kind == Request::Kind::send) {
        purpose.peer = static_cast<int>(call.words[2]); // count, type, peer, tag
        purpose.tag = static_cast<int>(call.words[3]);
    }
    return purpose;
}

// Notes that the program's buffers lie elsewhere now.
void describe_anew(const Call &call, Request &request) {
    Purpose purpose = purpose_of(call, request.kind);
    RequestTable::instance().change(request, [&](Request &described) {
        static_cast<Purpose &>(described) = std::move(purpose);
    });
}

// Adds the checksum of the data that are sent.
void add_checksums(Call &call, const MPI_Request *requests, int count) {
    uint64_t sum = 0;
    for (int i = 0; i < count; ++i) {
        if (Request *request = RequestTable::instance().find(requests[i])) {
            const uint64_t own = checksum_of(request->departures);
            sum = sum * 31 + (SentData::are_compared() ? own : 0);
            if (request->set_aside_id == 0) {
                request->departed = own;
            }
        }
    }
    call.add_word(sum);
}

// Fails a start with other data while the message of the first execution is under way.
int not_sent(Fn fn, const void *site, const Request &request) {
    complain_unknown(fn, site,
                     "the request sends other data since before the restore, and nothing has come "
                     "to where it started. Give it the same data once more, or send these by "
                     "another request");
    return raise(request.comm, MPI_ERR_REQUEST);
}

// Returns whether MPI has to start the request. MPICH lets a program start a request to
// MPI_PROC_NULL again before a call has completed it.
bool has_to_be_started_again(const Request &request) {
    const bool with_nobody =
        request.set_aside == Request::State::parked && request.peer == MPI_PROC_NULL;
    return with_nobody || request.set_aside == Request::State::cancelled;
}

// Continues the use that a restore has suspended.
void take_up(Request &request) {
    request.set_aside_id = 0;
    request.state = Request::State::active;
    if (has_to_be_started_again(request)) {
        MPI_Request handle = request.known_to_mpi();
        real<Fn::MPI_Start>(&handle);
    } else if (request.set_aside == Request::State::parked) {
        deliver_kept(request);
        ++RequestTable::instance().stand_ins;
        request.stand_in = completed_request(request.status, request.error);
    }
}

// Returns to the original request when the buffers lie where they did at first.
void back_in_place(const Call &call, MPI_Request handle) {
    Request *request = RequestTable::instance().find(handle);
    if (request != nullptr && request->made_anew != MPI_REQUEST_NULL) {
        const ReentryGuard inside;
        forget_made_anew(*request);
        describe_anew(call, *request);
    }
}

} // namespace

Purpose PersistentBase::purpose_for(const Call &call, Request::Kind kind) {
    const ReentryGuard inside;
    RequestTable::instance().reserve_room();
    return purpose_of(call, kind);
}

void PersistentBase::track(MPI_Request handle, Purpose &&purpose, Staging &&staging) {
    const ReentryGuard inside;
    RequestTable &table = RequestTable::instance();
    Request &request = table.add(handle, std::move(purpose));
    request.state = Request::State::inactive;
    table.change(request, [&](Request &made) { made.staging = std::move(staging); });
}

void PersistentBase::record(const Call &call, int result, MPI_Request handle) {
    EntryWriter writer(call, result);
    writer.add(handle);
    const Buffers buffers = buffers_of(call);
    writer.add(buffers);
    writer.write();
}

PersistentBase::Made PersistentBase::replay(const Call &call, Request::Kind kind,
                                            MPI_Request *handle, int &result) {
    std::optional<EntryReader> entry = next_entry(call, result);
    if (!entry) {
        return result == run_live ? Made::not_at_all : Made::failed;
    }
    *handle = entry->take<MPI_Request>();
    if (entry->result() != MPI_SUCCESS) {
        result = raise_logged(call.arguments.comm, entry->result());
        return Made::failed;
    }
    const Request *request = RequestTable::instance().find(*handle);
    if (request != nullptr && !request->staging.empty()) {
        return Made::as_before; // wherever the buffers are
    }
    if (entry->take<Buffers>() == buffers_of(call)) {
        back_in_place(call, *handle);
        return Made::as_before;
    }
    if (kind == Request::Kind::collective || kind == Request::Kind::partitioned) {
        result = not_matching(call, *entry, "where the buffers of a persistent request are");
        return Made::failed;
    }
    return Made::anew;
}

void PersistentBase::moved(const Call &call, MPI_Request *handle, MPI_Request made) {
    RequestTable &table = RequestTable::instance();
    Request *request = table.find(*handle);
    if (request == nullptr) {
        return;
    }
    describe_anew(call, *request);
    forget_made_anew(*request);
    request->made_anew = made;
    ++table.stand_ins;
}

Staging PersistentBase::staging_of(const Call &call, const Purpose &purpose, bool has_send_buf) {
    const ReentryGuard inside;
    const bool sends = purpose.kind == Request::Kind::send;
    if (purpose.kind == Request::Kind::receive || !shadows_wanted() || !separate_memory_wanted() ||
        (sends && purpose.departures.empty())) {
        return {};
    }
    return sends ? Staging::of(purpose.departures) : Staging::of(call, has_send_buf, {});
}

void PersistentBase::follow(const Call &call, bool has_send_buf, MPI_Request handle) {
    Request *request = RequestTable::instance().find(handle);
    if (request != nullptr && !request->staging.empty()) {
        const ReentryGuard inside;
        describe_anew(call, *request);
        RequestTable::instance().change(
            *request, [&](Request &found) { found.staging.follow(call, has_send_buf); });
    }
}

// Allocates memory before anything is started. Returns false and sets `result` if a request cannot
// be started.
bool PersistentStart::prepare(const Call &call, int count, MPI_Request *requests, int &result) {
    RequestTable &table = RequestTable::instance();
    for (int i = 0; i < count; ++i) {
        Request *const request = table.find(requests[i]);
        if (request == nullptr) {
            continue;
        }
        if (request->set_aside_id != 0) { // suspended: no log starts it
            if (checksum_of(request->departures) != request->departed) {
                result = not_sent(call.fn, call.site, *request);
                return false;
            }
            continue;
        }
        if (request->kind != Request::Kind::partitioned) {
            request->staging.refill();
        }
    }
    table.reserve_room(static_cast<size_t>(count));
    return true;
}

// Starts requests until MPI refuses one. Returns MPI's last result; `started`: their number.
int PersistentStart::start(int count, const MPI_Request *requests, int &started) {
    int result = MPI_SUCCESS;
    while (result == MPI_SUCCESS && started < count) {
        Request *const request = RequestTable::instance().find(requests[started]);
        if (request != nullptr && request->set_aside_id != 0) {
            take_up(*request);
            ++started;
            continue;
        }
        if (request != nullptr) {
            request->parts_ready.clear();
        }
        MPI_Request handle = request != nullptr ? request->known_to_mpi() : requests[started];
        result = real<Fn::MPI_Start>(&handle);
        started += result == MPI_SUCCESS ? 1 : 0;
    }
    return result;
}

int PersistentStart::activate(Fn fn, const void *site, int mode, int count, MPI_Request *requests) {
    const ReentryGuard inside;
    RequestTable &table = RequestTable::instance();
    Call call(fn, site);
    call.add_word(static_cast<uint64_t>(count));
    if (mode != CD_LOG_OFF) {
        add_checksums(call, requests, count);
    }
    if (mode == CD_LOG_REPLAYING) {
        return replay(call, count, requests);
    }
    cd_log_place place = {};
    cd_log_here(&place);
    thread_local std::vector<uint64_t> ids;
    ids.clear();
    ids.reserve(static_cast<size_t>(count));
    int result = MPI_SUCCESS;
    if (!prepare(call, count, requests, result)) {
        return result;
    }
    int started = 0;
    result = start(count, requests, started);
    for (int i = 0; i < started; ++i) {
        Request *request = table.find(requests[i]);
        if (request == nullptr) {
            Purpose unknown;
            unknown.persistent = true;
            request = &table.add(requests[i], std::move(unknown));
        }
        request->state = Request::State::active;
        if (mode == CD_LOG_RECORDING) {
            ids.push_back(table.started(*request, place));
        } else {
            table.started(*request);
        }
    }
    if (mode == CD_LOG_RECORDING) {
        EntryWriter writer(call, result);
        writer.add(ids.data(), ids.size() * sizeof(uint64_t));
        writer.write();
    }
    return result;
}

int PersistentStart::replay(Call &call, int count, MPI_Request *requests) {
    cd_log_place place = {};
    cd_log_here(&place);
    int result = MPI_SUCCESS;
    std::optional<EntryReader> entry = next_entry(call, result);
    if (!entry) {
        return result == run_live ? activate(call.fn, call.site, CD_LOG_RECORDING, count, requests)
                                  : result;
    }
    RequestTable &table = RequestTable::instance();
    for (int i = 0; i < count && !entry->at_end(); ++i) {
        const auto id = entry->take<uint64_t>();
        Request *request = table.find(requests[i]);
        if (request == nullptr) {
            return not_matching(call, *entry, "which request is started");
        }
        table.started(*request, id, place);
        if (request->set_aside_id != id) {
            request->state = Request::State::replayed;
            continue;
        }
        take_up(*request);
    }
    return entry->result() == MPI_SUCCESS ? MPI_SUCCESS
                                          : raise_logged(MPI_COMM_NULL, entry->result());
}

int RequestCancel::run(const void *site, MPI_Request *handle) {
    const int mode = Logging::mode();
    const ReentryGuard inside;
    Request *request = RequestTable::instance().find(*handle);
    MPI_Request known = request != nullptr ? request->known_to_mpi() : *handle;
    if (mode == CD_LOG_OFF) {
        return call_mpi<Fn::MPI_Cancel>(&known);
    }
    const Call call(Fn::MPI_Cancel, site);
    if (mode == CD_LOG_REPLAYING) {
        int result = MPI_SUCCESS;
        std::optional<EntryReader> entry = next_entry(call, result);
        if (!entry) {
            return result == run_live ? run(site, handle) : result;
        }
        const bool live = request != nullptr && request->state == Request::State::active;
        return live ? call_mpi<Fn::MPI_Cancel>(&known) : entry->result();
    }
    const int result = call_mpi<Fn::MPI_Cancel>(&known);
    EntryWriter(call, result).write();
    return result;
}

int GeneralizedComplete::run(const void *site, MPI_Request handle) {
    const int mode = Logging::mode();
    const ReentryGuard inside;
    const Call call(Fn::MPI_Grequest_complete, site);
    if (mode == CD_LOG_REPLAYING) {
        int result = MPI_SUCCESS;
        const bool is_in_log = next_entry(call, result).has_value();
        if (!is_in_log && result == run_live) {
            return run(site, handle);
        }
        if (is_in_log) {
            complete_generalized(handle);
        }
        return result;
    }
    const int result = complete(handle);
    if (mode == CD_LOG_RECORDING) {
        EntryWriter(call, result).write();
    }
    RequestFree::sweep(false); // a freed one ends now, and its free function runs
    return result;
}

// Completes the request unless an earlier execution has done so in MPI.
int GeneralizedComplete::complete(MPI_Request handle) {
    const bool is_first =
        !complete_generalized(handle) && RequestTable::instance().completes_first(handle);
    return is_first ? call_mpi<Fn::MPI_Grequest_complete>(handle) : MPI_SUCCESS;
}

} // namespace cd::logger
