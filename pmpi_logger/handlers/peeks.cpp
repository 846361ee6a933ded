// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/completes.h"
#include "log_entry/completion_entry.h"
#include "log_entry/writer.h"
#include "objects/lifetimes.h"
#include "payload/status.h"
#include "replay/match.h"
#include "replay/poll_counts.h"
#include "replay/quiesce.h"
#include "requests/completion.h"
#include "requests/logged_arrivals.h"
#include "rma/early_reads.h"

namespace cd::logger {
namespace {

bool is_lost(const Request &request) {
    return request.stand_in != MPI_REQUEST_NULL && request.error == lost;
}

} // namespace

int Peeks::run(const void *site, MPI_Request handle, int *flag, MPI_Status *status, int mode) {
    const ReentryGuard inside;
    Request *request = RequestTable::instance().find(handle);
    Call call;
    call.fn = Fn::MPI_Request_get_status;
    call.site = site;
    fail_without_log(call, {request});
    MPI_Status own = {};
    StatusLoan loan(status, own);
    int result = call_mpi<Fn::MPI_Request_get_status>(
        request != nullptr ? request->known_to_mpi() : handle, flag, loan.to());
    if (result == MPI_SUCCESS && *flag != 0 && request != nullptr && is_lost(*request)) {
        result = raise(MPI_COMM_NULL, MPI_ERR_OTHER); // as Open MPI does where it is waited for
    }
    const bool error_written = loan.settle();
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
    const ReentryGuard inside;
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
