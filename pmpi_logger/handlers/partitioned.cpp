// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/partitioned.h"

#include "log_entry/writer.h"
#include "payload/pack.h"
#include "record_all/record_all.h"
#include "replay/divergence.h"
#include "replay/match.h"
#include "replay/poll_counts.h"
#include "replay/quiesce.h"
#include "requests/delivery.h"
#include "requests/request_table.h"

#ifdef CD_HAS_MPI_Psend_init
namespace cd::logger {
namespace {

bool has(const Request *request, int part) {
    return request != nullptr && !request->parts.empty() && part >= 0 && part < request->partitions;
}

// Returns the parts that no earlier execution has sent, and notes all.
std::vector<int> take_new(Request *request, const std::vector<int> &parts) {
    if (request == nullptr) {
        return parts;
    }
    if (request->stand_in != MPI_REQUEST_NULL || request->state == Request::State::replayed) {
        return {}; // an earlier execution has sent it all
    }
    std::vector<int> fresh;
    RequestTable::instance().change(*request, [&](Request &sent) {
        sent.parts_ready.resize(static_cast<size_t>(sent.partitions), Request::Ready::no);
        for (const int part : parts) {
            Request::Ready *const known =
                has(&sent, part) ? &sent.parts_ready[static_cast<size_t>(part)] : nullptr;
            if (known == nullptr || *known != Request::Ready::said_before) {
                fresh.push_back(part);
            }
            if (known != nullptr) {
                *known = Request::Ready::said;
            }
        }
    });
    return fresh;
}

uint64_t checksum_of_parts(const Request *request, const std::vector<int> &parts) {
    uint64_t sum = 0;
    for (const int part : parts) {
        sum = sum * 31 + static_cast<uint64_t>(part);
        if (has(request, part)) {
            sum = sum * 31 +
                  compared_checksum_of(part_of(request->parts.front(), part, request->partitions));
        }
    }
    return sum;
}

// Returns the blocks of a part that are to be delivered; empty unless the
// request is under way.
Blocks arriving(const Request *request, int part) {
    if (!has(request, part) || request->state == Request::State::inactive ||
        !still_brings_data(*request)) {
        return {};
    }
    return {part_of(request->arrivals.front(), part, request->partitions)};
}

int replay(const Call &call, Request *request, int part, int *flag) {
    int result = MPI_SUCCESS;
    std::optional<EntryReader> entry = next_answer(call, result);
    if (!entry) {
        return result;
    }
    *flag = entry->has(EntryHeader::negative) ? 0 : 1;
    auto types = RequestTable::instance().hold_types(); // other threads ask for parts, too
    const Blocks arrived = arriving(request, part);
    if (*flag != 0 && !entry->at_end() && !entry->take_data(arrived)) {
        types.unlock();
        return not_matching(call, *entry, "how much data is received");
    }
    if (*flag != 0 && !arrived.empty()) {
        note_part_delivered(*request, part);
    }
    return entry->result();
}

} // namespace

int PartitionedReady::run(Call call, const std::vector<int> &parts, MPI_Request handle) {
    const int mode = Logging::mode();
    const ReentryGuard inside;
    Request *const request = RequestTable::instance().find(handle);
    if (mode != CD_LOG_OFF) {
        call.add_word(checksum_of_parts(request, parts));
    } else if (request != nullptr && request->logged() && !RecordAll::holds(request->place)) {
        return refuse(call.fn, "the request was started in a CD of another thread, which alone can "
                               "say what is ready");
    }
    const auto send = [&] {
        int result = MPI_SUCCESS;
        for (const int part : take_new(request, parts)) {
            if (has(request, part)) {
                request->staging.refill(part, request->partitions);
            }
            result = result == MPI_SUCCESS ? call_mpi<Fn::MPI_Pready>(part, handle) : result;
        }
        return result;
    };
    return record_result(call, mode, send, [&](int recorded) {
        take_new(request, parts);
        return recorded;
    });
}

int PartitionedArrived::run(const Call &call, MPI_Request handle, int part, int *flag) {
    const int mode = Logging::mode();
    const ReentryGuard inside;
    Request *const request = RequestTable::instance().find(handle);
    if (may_have_answer(mode)) {
        const int result = replay(call, request, part, flag);
        return result == run_live ? run(call, handle, part, flag) : result;
    }
    fail_without_log(call, {request});
    const bool is_whole = request != nullptr && request->stand_in != MPI_REQUEST_NULL;
    const int result =
        is_whole ? real<Fn::MPI_Request_get_status>(request->stand_in, flag, MPI_STATUS_IGNORE)
                 : call_mpi<Fn::MPI_Parrived>(handle, part, flag);
    auto types = RequestTable::instance().hold_types();
    const Blocks arrived = *flag != 0 && result == MPI_SUCCESS ? arriving(request, part) : Blocks();
    if (!arrived.empty()) {
        deliver_staged_part(*request, part);
    }
    if (mode == CD_LOG_RECORDING && *flag == 0) {
        types.unlock();
        record_nothing(call, result);
    } else if (mode == CD_LOG_RECORDING) {
        EntryWriter writer(call, result);
        writer.add_data(arrived, everything);
        types.unlock();
        writer.write();
    }
    return result;
}

} // namespace cd::logger
#endif
