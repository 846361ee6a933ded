// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "families/completes.h"

#include "call/handles.h"
#include "call/per_thread.h"
#include "entry/writer.h"
#include "families/freed_requests.h"
#include "families/made_comms.h"
#include "interception/fortran_real.h"
#include "lifetimes/freed_handles.h"
#include "lifetimes/lifetimes.h"
#include "payload/copy.h"
#include "payload/status.h"
#include "replay/endings.h"
#include "replay/going_live.h"
#include "replay/match.h"
#include "replay/polls.h"
#include "requests/completion.h"
#include "requests/had_otherwise.h"
#include "requests/logged_arrivals.h"
#include "requests/placeholder.h"
#include "windows/early_reads.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace cd::logger {
namespace {

// Reused, so that a warm thread allocates nothing.
struct Workspace {
    std::vector<MPI_Request> handles; // before the call
    std::vector<Request *> requests;  // of those; nullptr if not tracked
    std::vector<MPI_Status> statuses;
    std::vector<int> errors; // that were in the statuses before
    std::vector<int> slots;
};
Workspace &workspace() { return of_this_thread<Workspace>(); }

// Its handle is where the program wants it.
void note_made_by(const Request &request) {
    comm_made(*static_cast<const MPI_Comm *>(request.arrivals.back().address));
}

bool is_lost(const Request &request) {
    return request.stand_in != MPI_REQUEST_NULL && request.error == lost;
}

bool found_something(const int *flag) { return flag == nullptr || *flag != 0; }

} // namespace

void Completes::lend(Completion &c, bool recording) {
    Workspace &space = workspace();
    space.handles.assign(c.requests, c.requests + c.count);
    RequestTable &table = RequestTable::instance();
    table.find_ending(c.requests, c.count, space.requests);
    take_what_no_log_brings(c.call, space.requests);
    if (table.stand_ins > 0) {
        for (int i = 0; i < c.count; ++i) {
            if (const Request *request = space.requests[static_cast<size_t>(i)]) {
                c.requests[i] = request->known_to_mpi();
            }
        }
    }
    c.runs_functions = recording && !WholeProgram::records() &&
                       std::ranges::any_of(space.requests, [](const Request *request) {
                           return request != nullptr && request->kind == Request::Kind::generalized;
                       });
    c.lent = c.statuses;
    if (c.ignores_statuses()) {
        // Without a status nobody knows how much a message brought.
        space.statuses.resize(static_cast<size_t>(std::max(c.count, 1)));
        c.lent = space.statuses.data();
    }
    space.errors.clear();
    bool leaves_errors = recording && c.lent != nullptr;
#ifdef OPEN_MPI // whose Fortran gives memory of its own for most, of which the program gets all
    leaves_errors = leaves_errors && (c.shape == Shape::one || !is_from_fortran(c.call.site));
#endif
    if (leaves_errors) {
        for (int i = 0; i < c.status_count(); ++i) {
            space.errors.push_back(std::exchange(c.lent[i].MPI_ERROR, unwritten_error));
        }
    }
}

namespace {

// Where MPI has written none.
void put_errors_back(MPI_Status *statuses, const std::vector<int> &errors) {
    for (const int error : errors) {
        if (statuses->MPI_ERROR == unwritten_error) {
            statuses->MPI_ERROR = error;
        }
        ++statuses;
    }
}

} // namespace

void Completes::settle(Completion &c, int result, bool recording) {
    if (recording) {
        FreesRequest::look_for_arrivals();
    }
    // Which slots are complete, and where their statuses are.
    Workspace &space = workspace();
    std::vector<int> &slots = space.slots;
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
    RequestTable &table = RequestTable::instance();
    const bool nothing = c.shape == Shape::some ? *c.index == 0 : !found;
    const auto status_of = [&c](size_t k, int slot) -> const MPI_Status & {
        return c.lent[c.shape == Shape::all    ? static_cast<size_t>(slot)
                      : c.shape == Shape::some ? k
                                               : 0];
    };
    for (const int slot : slots) {
        if (const Request *request = space.requests[static_cast<size_t>(slot)]) {
            await_data(*request);
        }
    }
    auto types = table.hold_types();
    for (size_t k = 0; k < slots.size(); ++k) {
        if (Request *request = space.requests[static_cast<size_t>(slots[k])]) {
            deliver_staged(*request, status_of(k, slots[k]), result);
        }
    }

    // What stands in the log.
    if (recording && nothing && result == MPI_SUCCESS) {
        types.unlock();
        if (c.shape == Shape::any) {
            c.call.add_output({c.index, sizeof *c.index});
        }
        record_nothing(c.call, result);
    } else if (recording) {
        EntryWriter writer(c.call, result);
        Ending ending;
        ending.flag = c.flag != nullptr ? *c.flag : 1;
        ending.index = c.index != nullptr ? *c.index : 0;
        ending.finished = static_cast<int32_t>(slots.size());
        ending.indices = c.shape == Shape::some ? ending.finished : 0;
        ending.statuses = c.shape == Shape::all    ? (found ? c.count : 0)
                          : c.shape == Shape::some ? ending.finished
                                                   : 1;
        write(writer, ending);
        writer.add(c.indices, sizeof(int) * static_cast<size_t>(ending.indices));
        for (int i = 0; i < ending.statuses; ++i) {
            writer.add(c.lent[i]);
        }
        for (size_t k = 0; k < slots.size(); ++k) {
            const int slot = slots[k];
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
            const bool brings = active && request->told == 0;
            if (brings) {
                finished.blocks = static_cast<uint32_t>(request->arrivals.size());
            }
            write(writer, finished);
            if (brings) {
                add_arrivals(writer, *request, status_of(k, slot), result);
            }
        }
        types.unlock();
        writer.write();
    }
    types = {};
    put_errors_back(c.lent, space.errors);

    // What MPI knows no more.
    for (const int slot : slots) {
        Request *&request = space.requests[static_cast<size_t>(slot)];
        if (request == nullptr) {
            continue;
        }
        if (request->makes_comm && result == MPI_SUCCESS) [[unlikely]] {
            note_made_by(*request);
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
    if (!table.empty()) {
        table.give_back(space.requests);
    }
    if (table.stand_ins > 0) {
        for (int i = 0; i < c.count; ++i) {
            const Request *request = space.requests[static_cast<size_t>(i)];
            if (request != nullptr && c.requests[i] == request->known_to_mpi()) {
                c.requests[i] = space.handles[static_cast<size_t>(i)];
            }
        }
    }
}

void Completes::settle_inner(InnerCalls &inner) {
    if (const std::optional<cd_log_place> place = last_entry()) {
        inner.settle(*place, false);
    }
}

namespace {

Request *find_in_log(const Finished &finished) {
    return finished.id != 0 ? RequestTable::instance().find(finished.id) : nullptr;
}

// Never destroyed: MPI may be used while the process ends.
HadOtherwise<MPI_Request> &other_handles() {
    static auto &all = *new HadOtherwise<MPI_Request>;
    return all;
}

// Whether the program names the request that the log has. One that is older than what is replayed
// has the handle that it had in the first execution, or in the last one that came to its start.
bool is_named(const Finished &finished, MPI_Request handle) {
    if (const Request *const request = find_in_log(finished)) {
        return handle == request->handle;
    }
    if (finished.handle == 0) {
        return true;
    }
    const std::optional<MPI_Request> later = other_handles().of(finished.id);
    return later ? handle == *later : finished.has(handle);
}

// Whether the program names the requests that the log has, as many as count, where entry is.
// Delivers nothing.
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

} // namespace

int Completes::replay(Completion &c) {
    const Inside inside;
    int result = MPI_SUCCESS;
    if (c.flag != nullptr && c.shape == Shape::any) {
        c.call.add_output({c.index, sizeof *c.index});
    }
    std::optional<EntryReader> entry = next_answer(c.call, result);
    if (!entry) {
        return result;
    }
    if (entry->has(EntryHeader::negative)) {
        if (c.flag != nullptr) {
            *c.flag = 0;
        }
        if (c.shape == Shape::some) {
            *c.index = 0;
        }
        entry->take_outputs(c.call);
        return MPI_SUCCESS;
    }
    const auto ending = entry->take<Ending>();
    const auto indices = sizeof(int) * static_cast<size_t>(ending.indices);
    const std::byte *const logged_indices = entry->take(indices);
    const auto *statuses = entry->take(sizeof(MPI_Status) * static_cast<size_t>(ending.statuses));
    if (!are_those_named(c.requests, *entry, ending.finished)) {
        return not_matching(c.call, *entry, "which request is complete");
    }
    if (c.flag != nullptr) {
        *c.flag = ending.flag;
    }
    if (c.index != nullptr) {
        *c.index = ending.index;
    }
    if (indices > 0) {
        std::memcpy(c.indices, logged_indices, indices);
    }
    for (int i = 0; i < ending.statuses && !c.ignores_statuses(); ++i) {
        MPI_Status logged;
        std::memcpy(&logged, statuses + sizeof logged * static_cast<size_t>(i), sizeof logged);
        give_status(logged, logged.MPI_ERROR != unwritten_error, &c.statuses[i]);
    }
    RequestTable &table = RequestTable::instance();
    MPI_Comm comm = MPI_COMM_NULL; // of one that may have failed
    for (int k = 0; k < ending.finished; ++k) {
        const auto finished = entry->take<Finished>();
        Request *request = find_in_log(finished);
        if (request != nullptr && !may_name(comm, MPI_COMM_NULL)) {
            comm = request->comm;
        }
        MPI_Request &handle = c.requests[finished.slot];
        if (finished.blocks != Finished::no_data) {
            auto types = table.hold_types();
            if (!take_arrivals(*entry, finished.id, request, finished.blocks)) {
                types.unlock();
                return not_matching(c.call, *entry, "how much data is received");
            }
        }
        if (request != nullptr) {
            other_handles().note(finished.id, request->place, handle, !finished.has(handle));
        }
        if (finished.becomes_null != 0) {
            handle = MPI_REQUEST_NULL;
        }
        if (request != nullptr) {
            if (request->makes_comm && entry->result() == MPI_SUCCESS) {
                note_made_by(*request);
            }
            if (request->kind == Request::Kind::generalized) {
                FreedHandles::add_again();
            }
            complete(*request);
        }
    }
    return entry->result() == MPI_SUCCESS ? MPI_SUCCESS
                                          : raise_logged_of_request(comm, entry->result());
}

int Peeks::run(const void *site, MPI_Request handle, int *flag, MPI_Status *status, int mode) {
    const Inside inside;
    Request *request = RequestTable::instance().find(handle);
    Call call;
    call.fn = Fn::MPI_Request_get_status;
    call.site = site;
    take_what_no_log_brings(call, {request});
    StatusLoan loan(status);
    int result = real<Fn::MPI_Request_get_status>(
        request != nullptr ? request->known_to_mpi() : handle, flag, loan.to());
    if (result == MPI_SUCCESS && *flag != 0 && request != nullptr && is_lost(*request)) {
        result = raise(MPI_COMM_NULL, MPI_ERR_OTHER); // as Open MPI does where it is waited for
    }
    const bool error_written = loan.settle();
    if (mode == CD_LOG_RECORDING && *flag != 0) {
        FreesRequest::look_for_arrivals();
    }
    const bool is_first = request != nullptr && *flag != 0 && request->told == 0;
    if (is_first) {
        await_data(*request);
    }
    auto types = RequestTable::instance().hold_types();
    if (is_first) {
        deliver_staged(*request, loan.written(), result);
        cd_log_place here = {};
        if (mode == CD_LOG_RECORDING) {
            cd_log_here(&here);
        }
        note_told(*request, here);
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
    if (error_written) {
        writer.set(EntryHeader::status_error_written);
    }
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

int Peeks::replay(const void *site, MPI_Request handle, int *flag, MPI_Status *status) {
    const Inside inside;
    Call call;
    call.fn = Fn::MPI_Request_get_status;
    call.site = site;
    int result = MPI_SUCCESS;
    std::optional<EntryReader> entry = next_answer(call, result);
    if (!entry) {
        return result == run_live ? run(site, handle, flag, status, cd_log_mode()) : result;
    }
    *flag = entry->has(EntryHeader::negative) ? 0 : 1;
    if (*flag != 0) {
        give_status(entry->take<MPI_Status>(), entry->has(EntryHeader::status_error_written),
                    status);
        const auto id = entry->take<uint64_t>();
        const auto blocks = entry->take<uint32_t>();
        RequestTable &table = RequestTable::instance();
        // One that no log has may be gone, and another one have its handle.
        Request *const request = id != 0 ? table.find(id) : nullptr;
        Request *const told = id != 0 ? request : table.find(handle);
        auto types = table.hold_types();
        if (blocks != Finished::no_data && !take_arrivals(*entry, id, request, blocks)) {
            types.unlock();
            return not_matching(call, *entry, "how much data is received");
        }
        if (told != nullptr && told->id == id && told->told == 0) {
            note_told(*told, last_entry().value_or(cd_log_place()));
        }
    }
    return entry->result();
}

} // namespace cd::logger
