// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/partitioned.h"

#include "log_entry/writer.h"
#include "payload/pack.h"
#include "replay/match.h"
#include "replay/poll_counts.h"
#include "replay/quiesce.h"
#include "requests/delivery.h"

namespace cd::logger {
namespace {

bool has(const Request *request, int part) {
    return request != nullptr && !request->parts.empty() && part >= 0 && part < request->partitions;
}

// Returns the blocks of a part that are to be delivered; empty unless the request is under way.
Blocks arriving(const Request *request, int part) {
    if (!has(request, part) || request->state == Request::State::inactive ||
        !still_brings_data(*request)) {
        return {};
    }
    return {part_of(request->arrivals.front(), part, request->partitions)};
}

} // namespace

std::vector<int> PartitionedReady::take_new(Request *request, const std::vector<int> &parts) {
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

int PartitionedReady::ready_one_by_one([[maybe_unused]] const std::vector<int> &parts,
                                       [[maybe_unused]] MPI_Request handle) {
    int result = MPI_SUCCESS;
#if MPI_VERSION >= 4
    const ReentryGuard inside;
    for (size_t i = 0; i < parts.size() && result == MPI_SUCCESS; ++i) {
        result = call_mpi<Fn::MPI_Pready>(parts[i], handle);
    }
#endif
    return result;
}

void PartitionedReady::copy(const Request *request, const std::vector<int> &parts) {
    const ReentryGuard inside;
    for (const int part : parts) {
        if (has(request, part)) {
            request->staging.refill(part, request->partitions);
        }
    }
}

void PartitionedReady::add_checksum(Call &call, const Request *request,
                                    const std::vector<int> &parts) {
    const ReentryGuard inside;
    uint64_t sum = 0;
    for (const int part : parts) {
        sum = sum * 31 + static_cast<uint64_t>(part);
        if (has(request, part)) {
            sum = sum * 31 +
                  compared_checksum_of(part_of(request->parts.front(), part, request->partitions));
        }
    }
    call.add_word(sum);
}

void PartitionedReady::record(const Call &call, int result) {
    const ReentryGuard inside;
    EntryWriter(call, result).write();
}

bool PartitionedReady::replay(const Call &call, int &result) {
    const ReentryGuard inside;
    return !next_entry(call, result) && result == run_live;
}

Call PartitionedArrived::call_of(Fn fn, const void *site, int part) {
    Call call(fn, site);
    call.add_word(static_cast<uint64_t>(part));
    return call;
}

MPI_Request PartitionedArrived::arrived_whole(const Call &call, MPI_Request handle) {
    Request *const request = RequestTable::instance().find(handle);
    fail_without_log(call, {request});
    return request != nullptr ? request->stand_in : MPI_REQUEST_NULL;
}

void PartitionedArrived::settle(const Call &call, MPI_Request handle, int part, int flag,
                                int result, bool recording) {
    const ReentryGuard inside;
    Request *request = RequestTable::instance().find(handle);
    auto types = RequestTable::instance().hold_types();
    const Blocks arrived = flag != 0 && result == MPI_SUCCESS ? arriving(request, part) : Blocks();
    if (!arrived.empty()) {
        deliver_staged_part(*request, part);
    }
    if (recording && flag == 0) {
        types.unlock();
        record_nothing(call, result);
    } else if (recording) {
        EntryWriter writer(call, result);
        writer.add_data(arrived, everything);
        types.unlock();
        writer.write();
    }
}

bool PartitionedArrived::replay(const Call &call, MPI_Request handle, int part, int *flag,
                                int &result) {
    const ReentryGuard inside;
    std::optional<EntryReader> entry = next_answer(call, result);
    if (!entry) {
        return result == run_live;
    }
    *flag = entry->has(EntryHeader::negative) ? 0 : 1;
    result = entry->result();
    Request *request = RequestTable::instance().find(handle);
    auto types = RequestTable::instance().hold_types(); // other threads ask for parts, too
    const Blocks arrived = arriving(request, part);
    if (*flag != 0 && result == MPI_SUCCESS && !entry->at_end() && !entry->take_data(arrived)) {
        types.unlock();
        result = not_matching(call, *entry, "how much data is received");
    } else if (*flag != 0 && !arrived.empty()) {
        note_part_delivered(*request, part);
    }
    return false;
}

} // namespace cd::logger
