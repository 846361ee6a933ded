// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/completion.h"

#include "call/handle_word.h"
#include "log_entry/completion_entry.h"
#include "log_entry/writer.h"
#include "mpi/thread_data.h"
#include "payload/mpi_status.h"
#include "payload/pack.h"
#include "replay/match.h"
#include "replay/poll_counts.h"
#include "replay/quiesce.h"
#include "requests/delivery.h"
#include "requests/replayed_request.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

namespace cd::logger {
namespace {

// Buffers of a thread, reused so that later calls allocate nothing.
struct Workspace {
    std::vector<MPI_Request> handles; // before the call
    std::vector<Request *> requests;  // nullptr: not tracked
    std::vector<MPI_Status> statuses;
    std::vector<int> slots;
};
Workspace &workspace() { return of_this_thread<Workspace>(); }

bool found_something(const int *flag) { return flag == nullptr || *flag != 0; }

} // namespace

void Completion::lend(CompletionCall &c) {
    Workspace &space = workspace();
    space.handles.assign(c.requests, c.requests + c.count);
    space.slots.reserve(static_cast<size_t>(c.count));
    RequestTable &table = RequestTable::instance();
    table.find_ending(c.requests, c.count, space.requests);
    fail_without_log(c.call, space.requests);
    c.lent = c.statuses;
    if (c.ignores_statuses()) {
        // Only a status says how much a message brought.
        space.statuses.resize(static_cast<size_t>(std::max(c.count, 1)));
        c.lent = space.statuses.data();
    }
    // Allocates nothing: an exception would leave these handles to the program.
    if (table.stand_ins > 0) {
        for (int i = 0; i < c.count; ++i) {
            if (const Request *request = space.requests[static_cast<size_t>(i)]) {
                c.requests[i] = request->known_to_mpi();
            }
        }
    }
}

namespace {

// Finds the completed slots.
void find_complete(const CompletionCall &c, int result, std::vector<int> &slots) {
    slots.clear();
    const bool found = found_something(c.flag);
    if (found && c.shape == Shape::one) {
        slots.push_back(0);
    } else if (found && c.shape == Shape::any && *c.index != MPI_UNDEFINED) {
        slots.push_back(*c.index);
    } else if (found && c.shape == Shape::all) {
        for (int i = 0; i < c.count; ++i) {
            if (result != MPI_ERR_IN_STATUS || c.lent[i].MPI_ERROR != MPI_ERR_PENDING) {
                slots.push_back(i);
            }
        }
    } else if (c.shape == Shape::some && *c.index != MPI_UNDEFINED) {
        slots.assign(c.indices, c.indices + *c.index);
    }
}

// Returns the status of the k-th completed slot.
const MPI_Status &status_of(const CompletionCall &c, size_t k, int slot) {
    return c.lent[c.shape == Shape::all    ? static_cast<size_t>(slot)
                  : c.shape == Shape::some ? k
                                           : 0];
}

void deliver_all_staged(const CompletionCall &c, int result, const Workspace &space) {
    for (size_t k = 0; k < space.slots.size(); ++k) {
        const int slot = space.slots[k];
        if (Request *request = space.requests[static_cast<size_t>(slot)]) {
            deliver_staged(*request, status_of(c, k, slot), result);
        }
    }
}

Ending ending_of(const CompletionCall &c, int finished) {
    Ending ending;
    ending.flag = c.flag != nullptr ? *c.flag : 1;
    ending.index = c.index != nullptr ? *c.index : 0;
    ending.finished = finished;
    ending.indices = c.shape == Shape::some ? finished : 0;
    ending.statuses = c.shape == Shape::all    ? (found_something(c.flag) ? c.count : 0)
                      : c.shape == Shape::some ? finished
                                               : 1;
    return ending;
}

// Adds the k-th completed request and its data.
void add_finished(EntryWriter &writer, const CompletionCall &c, size_t k, int result,
                  const Workspace &space) {
    const int slot = space.slots[k];
    const Request *request = space.requests[static_cast<size_t>(slot)];
    const bool active = request != nullptr && request->state == Request::State::active;
    Finished finished;
    finished.slot = slot;
    finished.becomes_null = c.requests[slot] == MPI_REQUEST_NULL ? 1 : 0;
    if (active) {
        finished.becomes_null = request->persistent ? 0 : 1;
        finished.id = request->id;
        finished.set_handle(space.handles[static_cast<size_t>(slot)]);
    }
    const bool brings = active && !request->reported;
    if (brings) {
        finished.blocks = static_cast<uint32_t>(request->arrivals.size());
    }
    write(writer, finished);
    if (brings) {
        add_arrivals(writer, *request, status_of(c, k, slot), result);
    }
}

// Records the call. `types`: held until all data are copied.
void record_completion(CompletionCall &c, int result, const Workspace &space,
                       std::unique_lock<BiasedLock> types) {
    const bool nothing = c.shape == Shape::some ? *c.index == 0 : !found_something(c.flag);
    if (nothing && result == MPI_SUCCESS) {
        types.unlock();
        if (c.shape == Shape::any) {
            c.call.add_output({c.index, sizeof *c.index});
        }
        record_nothing(c.call, result);
        return;
    }
    EntryWriter writer(c.call, result);
    const Ending ending = ending_of(c, static_cast<int>(space.slots.size()));
    write(writer, ending);
    writer.add(c.indices, sizeof(int) * static_cast<size_t>(ending.indices));
    for (int i = 0; i < ending.statuses; ++i) {
        writer.add(c.lent[i]);
    }
    for (size_t k = 0; k < space.slots.size(); ++k) {
        add_finished(writer, c, k, result, space);
    }
    types.unlock();
    writer.write();
}

// Forgets completed requests.
void forget_complete(const CompletionCall &c, Workspace &space) {
    for (const int slot : space.slots) {
        Request *&request = space.requests[static_cast<size_t>(slot)];
        if (request == nullptr) {
            continue;
        }
        const bool persistent = request->persistent;
        if (persistent || request->stand_in != MPI_REQUEST_NULL) {
            c.requests[slot] = persistent ? request->handle : MPI_REQUEST_NULL;
        }
        complete(*request);
        if (!persistent) {
            request = nullptr;
        }
    }
}

// Gives the program its own handles of pending requests back, instead of their stand-ins.
void give_back_others(const CompletionCall &c, const Workspace &space) {
    RequestTable &table = RequestTable::instance();
    if (!RequestTable::empty()) {
        table.give_back(space.requests);
    }
    if (table.stand_ins == 0) {
        return;
    }
    for (int i = 0; i < c.count; ++i) {
        const Request *request = space.requests[static_cast<size_t>(i)];
        if (request != nullptr && c.requests[i] == request->known_to_mpi()) {
            c.requests[i] = space.handles[static_cast<size_t>(i)];
        }
    }
}

} // namespace

void Completion::settle(CompletionCall &c, int result, bool recording) {
    Workspace &space = workspace();
    find_complete(c, result, space.slots);
    std::unique_lock<BiasedLock> types = RequestTable::instance().hold_types();
    deliver_all_staged(c, result, space);
    if (recording) {
        record_completion(c, result, space, std::move(types));
    } else {
        types.unlock();
    }
    forget_complete(c, space);
    give_back_others(c, space);
}

namespace {

Request *find_in_log(const Finished &finished) {
    return finished.id != 0 ? RequestTable::instance().find(finished.id) : nullptr;
}

// True if `handle` names the request of the entry. A request that is older than the replay has its
// recorded handle, or that of the last re-execution.
bool is_named(const Finished &finished, MPI_Request handle) {
    if (const Request *const request = find_in_log(finished)) {
        return handle == request->handle;
    }
    if (finished.handle == 0) {
        return true;
    }
    const std::optional<Reexecuted> later = find_reexecuted(finished.id);
    return later ? handle == later->handle : finished.has(handle);
}

// Returns whether the program names the `count` logged requests at `entry`. Delivers nothing.
bool are_those_named(const MPI_Request *requests, EntryReader entry, int count) {
    for (int k = 0; k < count; ++k) {
        const auto finished = entry.take<Finished>();
        if (!is_named(finished, requests[finished.slot])) {
            return false;
        }
        if (finished.blocks != Finished::no_data) {
            skip_arrivals(entry, finished.blocks);
        }
    }
    return true;
}

// Replays a poll that found nothing.
void write_nothing_found(const CompletionCall &c, EntryReader &entry) {
    if (c.flag != nullptr) {
        *c.flag = 0;
    }
    if (c.shape == Shape::some) {
        *c.index = 0;
    }
    entry.take_outputs(c.call);
}

// `indices`, `statuses`: from the log.
void write_outcome(const CompletionCall &c, const Ending &ending, const std::byte *indices,
                   const std::byte *statuses) {
    if (c.flag != nullptr) {
        *c.flag = ending.flag;
    }
    if (c.index != nullptr) {
        *c.index = ending.index;
    }
    if (ending.indices > 0) {
        std::memcpy(c.indices, indices, sizeof(int) * static_cast<size_t>(ending.indices));
    }
    for (int i = 0; i < ending.statuses && !c.ignores_statuses(); ++i) {
        MPI_Status logged;
        std::memcpy(&logged, statuses + sizeof logged * static_cast<size_t>(i), sizeof logged);
        give_status(logged, &c.statuses[i]);
    }
}

// Delivers the data of the request and clears its handle. Returns false and does nothing if the
// data do not fit.
[[nodiscard]] bool end_as_logged(EntryReader &entry, const Finished &finished, Request *request,
                                 MPI_Request &handle) {
    if (finished.blocks != Finished::no_data) {
        const auto types = RequestTable::instance().hold_types();
        if (!take_arrivals(entry, finished.id, request, finished.blocks)) {
            return false;
        }
    }
    if (finished.becomes_null != 0) {
        handle = MPI_REQUEST_NULL;
    }
    if (request != nullptr) {
        note_reexecuted(*request, finished.id);
        complete(*request);
    }
    return true;
}

} // namespace

int Completion::replay(CompletionCall &c) {
    const ReentryGuard inside;
    int result = MPI_SUCCESS;
    if (c.flag != nullptr && c.shape == Shape::any) {
        c.call.add_output({c.index, sizeof *c.index});
    }
    std::optional<EntryReader> entry = next_answer(c.call, result);
    if (!entry) {
        return result;
    }
    if (entry->has(EntryHeader::negative)) {
        write_nothing_found(c, *entry);
        return MPI_SUCCESS;
    }
    const auto ending = entry->take<Ending>();
    const auto *indices = entry->take(sizeof(int) * static_cast<size_t>(ending.indices));
    const auto *statuses = entry->take(sizeof(MPI_Status) * static_cast<size_t>(ending.statuses));
    if (!are_those_named(c.requests, *entry, ending.finished)) {
        return not_matching(c.call, *entry, "which request is complete");
    }
    write_outcome(c, ending, indices, statuses);
    MPI_Comm comm = MPI_COMM_NULL; // of one that may have failed
    for (int k = 0; k < ending.finished; ++k) {
        const auto finished = entry->take<Finished>();
        Request *const request = find_in_log(finished);
        if (request != nullptr && !may_name(comm, MPI_COMM_NULL)) {
            comm = request->comm;
        }
        if (!end_as_logged(*entry, finished, request, c.requests[finished.slot])) {
            return not_matching(c.call, *entry, "how much data is received");
        }
    }
    return entry->result() == MPI_SUCCESS ? MPI_SUCCESS
                                          : raise_logged_of_request(comm, entry->result());
}

int RequestStatus::run(const void *site, MPI_Request handle, int *flag, MPI_Status *status,
                       int mode) {
    const ReentryGuard inside;
    Request *request = RequestTable::instance().find(handle);
    const Call call(Fn::MPI_Request_get_status, site);
    fail_without_log(call, {request});
    MPI_Status own = {};
    StatusLoan loan(status, own);
    const int result = call_mpi<Fn::MPI_Request_get_status>(
        request != nullptr ? request->known_to_mpi() : handle, flag, loan.to());
    const bool is_first = request != nullptr && *flag != 0 && !request->reported;
    auto types = RequestTable::instance().hold_types();
    if (is_first) {
        deliver_staged(*request, loan.written(), result);
        request->reported = true;
    }
    if (mode != CD_LOG_RECORDING) {
        return result;
    }
    if (*flag == 0) {
        types.unlock();
        record_nothing(call, result);
        return result;
    }
    EntryWriter writer(call, result);
    writer.add(loan.written());
    const bool active = request != nullptr && request->state == Request::State::active;
    const bool brings = active && is_first;
    writer.add(active ? request->id : uint64_t{0});
    writer.add(brings ? static_cast<uint32_t>(request->arrivals.size()) : Finished::no_data);
    if (brings) {
        add_arrivals(writer, *request, loan.written(), result);
    }
    types.unlock();
    writer.write();
    return result;
}

int RequestStatus::replay(const void *site, MPI_Request handle, int *flag, MPI_Status *status) {
    const ReentryGuard inside;
    const Call call(Fn::MPI_Request_get_status, site);
    int result = MPI_SUCCESS;
    std::optional<EntryReader> entry = next_answer(call, result);
    if (!entry) {
        return result == run_live ? run(site, handle, flag, status, cd_log_mode()) : result;
    }
    *flag = entry->has(EntryHeader::negative) ? 0 : 1;
    if (*flag != 0) {
        give_status(entry->take<MPI_Status>(), status);
        const auto id = entry->take<uint64_t>();
        const auto blocks = entry->take<uint32_t>();
        RequestTable &table = RequestTable::instance();
        // A request outside of logs may be gone and its handle reused.
        Request *const request = id != 0 ? table.find(id) : nullptr;
        Request *const reported = id != 0 ? request : table.find(handle);
        auto types = table.hold_types();
        if (blocks != Finished::no_data && !take_arrivals(*entry, id, request, blocks)) {
            types.unlock();
            return not_matching(call, *entry, "how much data is received");
        }
        if (reported != nullptr && reported->id == id) {
            note_reexecuted(*reported, id);
            reported->reported = true;
        }
    }
    return entry->result();
}

namespace {

int ask(const void *site, MPI_Request request, int *flag, MPI_Status *status) {
    return RequestStatus::call<Fn::MPI_Request_get_status>(site, request, flag, status);
}

// Returns whether the request is not null, and not a persistent one between two uses.
bool is_active(MPI_Request handle) {
    if (handle == MPI_REQUEST_NULL) {
        return false;
    }
    const Request *const request = RequestTable::instance().find(handle);
    return request == nullptr || request->state != Request::State::inactive;
}

MPI_Status *status_at(MPI_Status *statuses, size_t index) {
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[index];
}

} // namespace

int RequestStatusOfMany::any(const void *site, Requests requests, int *index, int *flag,
                             MPI_Status *status) {
    *index = MPI_UNDEFINED;
    *flag = 0;
    bool has_active = false;
    for (size_t i = 0; i < requests.size(); ++i) {
        if (!is_active(requests[i])) {
            continue;
        }
        has_active = true;
        const int result = ask(site, requests[i], flag, status);
        if (result != MPI_SUCCESS || *flag != 0) {
            *index = static_cast<int>(i);
            return result;
        }
    }
    return has_active ? MPI_SUCCESS : ask(site, MPI_REQUEST_NULL, flag, status);
}

int RequestStatusOfMany::all(const void *site, Requests requests, int *flag, MPI_Status *statuses) {
    *flag = 1;
    for (size_t i = 0; i < requests.size() && *flag != 0; ++i) {
        const int result = ask(site, requests[i], flag, status_at(statuses, i));
        if (result != MPI_SUCCESS) {
            return result;
        }
    }
    return MPI_SUCCESS;
}

int RequestStatusOfMany::some(const void *site, Requests requests, int *count, int *indices,
                              MPI_Status *statuses) {
    *count = MPI_UNDEFINED;
    size_t found = 0;
    for (size_t i = 0; i < requests.size(); ++i) {
        if (!is_active(requests[i])) {
            continue;
        }
        int flag = 0;
        const int result = ask(site, requests[i], &flag, status_at(statuses, found));
        if (result != MPI_SUCCESS) {
            return result;
        }
        if (flag != 0) {
            indices[found++] = static_cast<int>(i);
        }
        *count = static_cast<int>(found);
    }
    return MPI_SUCCESS;
}

} // namespace cd::logger
