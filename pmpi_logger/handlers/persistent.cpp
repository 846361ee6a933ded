// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/persistent.h"

#include "log_entry/writer.h"
#include "payload/pack.h"
#include "replay/match.h"
#include "requests/delivery.h"
#include "requests/replayed_request.h"

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

Purpose persistent_purpose(const Call &call, Request::Kind kind) {
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
    Purpose purpose = persistent_purpose(call, request.kind);
    RequestTable::instance().change(request, [&](Request &described) {
        static_cast<Purpose &>(described) = std::move(purpose);
    });
}

// Returns the checksum of the data that are sent.
uint64_t checksum_of_sent(const MPI_Request *requests, int count) {
    uint64_t sum = 0;
    for (int i = 0; i < count; ++i) {
        if (const Request *request = RequestTable::instance().find(requests[i])) {
            sum = sum * 31 + compared_checksum_of(request->departures);
        }
    }
    return sum;
}

// Returns whether MPI has to start the request. MPICH lets a program start a
// request to MPI_PROC_NULL again before a call has completed it.
bool has_to_be_started_again(const Request &request) {
    const bool with_nobody =
        request.suspended == Request::State::completed_early && request.peer == MPI_PROC_NULL;
    return with_nobody || request.suspended == Request::State::cancelled;
}

// Continues the use that a restore has suspended.
void take_up(Request &request) {
    request.suspended_id = 0;
    request.state = Request::State::active;
    if (has_to_be_started_again(request)) {
        MPI_Request handle = request.known_to_mpi();
        real<Fn::MPI_Start>(&handle);
    } else if (request.suspended == Request::State::completed_early) {
        deliver_kept(request);
        ++RequestTable::instance().stand_ins;
        request.stand_in = completed_request(request.status, request.error);
    }
}

} // namespace

void PersistentBase::track(const Call &call, Request::Kind kind, MPI_Request handle,
                           Staging &&staging) {
    const ReentryGuard inside;
    RequestTable &table = RequestTable::instance();
    Request &request = table.add(handle, persistent_purpose(call, kind));
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

int PersistentBase::replay(const Call &call, bool has_send_buf, MPI_Request *handle) {
    const ReentryGuard inside;
    int result = MPI_SUCCESS;
    std::optional<EntryReader> entry = next_entry(call, result);
    if (!entry) {
        return result;
    }
    *handle = entry->take<MPI_Request>();
    if (entry->result() != MPI_SUCCESS) {
        return raise_logged(call.arguments.comm, entry->result());
    }
    Request *const request = RequestTable::instance().find(*handle);
    if (request == nullptr) {
        return MPI_SUCCESS;
    }
    if (!request->staging.empty()) { // wherever the buffers are
        describe_anew(call, *request);
        RequestTable::instance().change(
            *request, [&](Request &found) { found.staging.follow(call, has_send_buf); });
        return MPI_SUCCESS;
    }
    if (entry->take<Buffers>() == buffers_of(call)) {
        if (request->made_anew != MPI_REQUEST_NULL) {
            forget_made_anew(*request);
            describe_anew(call, *request);
        }
        return MPI_SUCCESS;
    }
    if (request->kind == Request::Kind::collective || request->kind == Request::Kind::partitioned) {
        return not_matching(call, *entry, "where the buffers of a persistent request are");
    }
    return make_anew;
}

void PersistentBase::moved(const Call &call, MPI_Request handle, MPI_Request made) {
    const ReentryGuard inside;
    RequestTable &table = RequestTable::instance();
    Request *const request = table.find(handle);
    describe_anew(call, *request);
    forget_made_anew(*request);
    request->made_anew = made;
    ++table.stand_ins;
}

Staging PersistentBase::staging_of(const Call &call, Request::Kind kind, bool has_send_buf) {
    const ReentryGuard inside;
    if (kind == Request::Kind::receive || !send_copies_wanted() || !separate_memory_wanted()) {
        return {};
    }
    return Staging::of(call, has_send_buf, {});
}

// Starts a request whose suspended use no log has any more.
int PersistentStart::refuse_suspended(const Call &call, const Request &request) {
    report_unanswerable(
        call.fn, call.site,
        "a restore has suspended the last use of the request, and the log that has it "
        "is gone. Use another request");
    return raise(request.comm, MPI_ERR_REQUEST);
}

int PersistentStart::activate(Fn fn, const void *site, int mode, int count, MPI_Request *requests) {
    const ReentryGuard inside;
    RequestTable &table = RequestTable::instance();
    Call call(fn, site);
    call.add_word(static_cast<uint64_t>(count));
    call.add_word(mode != CD_LOG_OFF ? checksum_of_sent(requests, count) : 0);
    cd_log_place place = {};
    cd_log_here(&place);
    if (mode == CD_LOG_REPLAYING) {
        const int result = replay(call, place, count, requests);
        if (result != run_live) {
            return result;
        }
        mode = CD_LOG_RECORDING;
    }
    thread_local std::vector<uint64_t> ids; // 0 for a request that only MPI knows
    ids.clear();
    int result = MPI_SUCCESS;
    for (int i = 0; i < count && result == MPI_SUCCESS; ++i) {
        Request *const request = table.find(requests[i]);
        if (request == nullptr) {
            result = call_mpi<Fn::MPI_Start>(&requests[i]);
            ids.push_back(0);
            continue;
        }
        if (request->suspended_id != 0) {
            result = refuse_suspended(call, *request);
            continue;
        }
        if (request->kind != Request::Kind::partitioned) {
            request->staging.refill();
        }
        request->parts_ready.clear();
        MPI_Request handle = request->known_to_mpi();
        result = call_mpi<Fn::MPI_Start>(&handle);
        if (result == MPI_SUCCESS) {
            request->state = Request::State::active;
            if (mode == CD_LOG_RECORDING) {
                ids.push_back(table.started(*request, place));
            } else {
                table.started(*request, 0, {});
            }
        }
    }
    if (mode == CD_LOG_RECORDING) {
        EntryWriter writer(call, result);
        writer.add(ids.data(), ids.size() * sizeof(uint64_t));
        writer.write();
    }
    return result;
}

int PersistentStart::replay(const Call &call, const cd_log_place &place, int count,
                            const MPI_Request *requests) {
    int result = MPI_SUCCESS;
    std::optional<EntryReader> entry = next_entry(call, result);
    if (!entry) {
        return result;
    }
    RequestTable &table = RequestTable::instance();
    for (int i = 0; i < count && !entry->at_end(); ++i) {
        const auto id = entry->take<uint64_t>();
        Request *const request = table.find(requests[i]);
        if (id == 0) {
            continue;
        }
        if (request == nullptr) {
            return not_matching(call, *entry, "which request is started");
        }
        table.started(*request, id, place);
        if (request->suspended_id == id) {
            take_up(*request);
        } else {
            request->state = Request::State::replayed;
        }
    }
    return entry->result() == MPI_SUCCESS ? MPI_SUCCESS
                                          : raise_logged(MPI_COMM_NULL, entry->result());
}

int RequestCancel::run(const void *site, MPI_Request *handle) {
    const int mode = Logging::mode();
    const ReentryGuard inside;
    Request *const request = RequestTable::instance().find(*handle);
    MPI_Request known = request != nullptr ? request->known_to_mpi() : *handle;
    const auto cancel = [&] { return call_mpi<Fn::MPI_Cancel>(&known); };
    return record_result(Call(Fn::MPI_Cancel, site), mode, cancel, [&](int recorded) {
        const bool live = request != nullptr && request->state == Request::State::active;
        return live ? cancel() : recorded;
    });
}

namespace {

// Completes a request that the re-execution has made in MPI, as the log ends before the wait.
int complete_again(MPI_Request handle) {
    const Request *const request = RequestTable::instance().find(handle);
    int complete = 1;
    if (request != nullptr && request->state == Request::State::active) {
        real<Fn::MPI_Request_get_status>(handle, &complete, MPI_STATUS_IGNORE);
    }
    return complete != 0 ? MPI_SUCCESS : call_mpi<Fn::MPI_Grequest_complete>(handle);
}

} // namespace

int GeneralizedComplete::run(const void *site, MPI_Request handle) {
    const int mode = Logging::mode();
    const ReentryGuard inside;
    return record_result(
        Call(Fn::MPI_Grequest_complete, site), mode, [&] { return complete(handle); },
        [&](int) { return complete_again(handle); });
}

// Completes the request unless the log does.
int GeneralizedComplete::complete(MPI_Request handle) {
    return is_replayed_generalized(handle) ? MPI_SUCCESS
                                           : call_mpi<Fn::MPI_Grequest_complete>(handle);
}

} // namespace cd::logger
