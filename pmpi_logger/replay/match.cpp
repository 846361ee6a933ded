// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "replay/match.h"

#include "log_entry/writer.h"
#include "mpi/record_failure.h"
#include "replay/complaint.h"
#include "requests/completion.h"
#include "requests/logged_arrivals.h"
#include "requests/table.h"

#include "cd/mpi_log.h"

#include <cstring>

namespace cd::logger {

bool same_call(const Call &call, const EntryHeader &logged) {
    return logged.function() == call.fn && logged.words == call.word_count &&
           std::memcmp(logged.word(), call.words,
                       sizeof(uint64_t) * static_cast<size_t>(call.word_count)) == 0;
}

std::optional<EntryReader> next_entry(const Call &call, int &result) {
    if (cd_log_stopped() != 0) {
        result = fail_after_difference(call);
        return std::nullopt;
    }
    size_t size = 0;
    while (const void *found = cd_log_read(&size)) {
        RecordFailure::note_read();
        EntryReader entry(found, size);
        const EntryHeader &logged = entry.header();
        if (same_call(call, logged)) {
            return entry;
        }
        if (!entry.has(EntryHeader::negative) && !entry.has(EntryHeader::optional)) {
            result = not_matching(call, entry,
                                  logged.function() == call.fn ? "the arguments, or the data sent"
                                                               : "another function");
            return std::nullopt;
        }
    }
    // Nothing was left that has to be repeated, or it cannot be read.
    result = cd_log_mode() == CD_LOG_REPLAYING ? unreadable(call) : run_live;
    return std::nullopt;
}

std::optional<EntryReader> next_entry_if_same(const Call &call) {
    if (cd_log_stopped() != 0) {
        return std::nullopt;
    }
    size_t size = 0;
    if (const void *found = cd_log_read(&size)) {
        RecordFailure::note_read();
        EntryReader entry(found, size);
        if (same_call(call, entry.header())) {
            return entry;
        }
        cd_log_unread();
    }
    return std::nullopt;
}

int not_matching(const Call &call, const EntryReader &entry, const char *difference) {
    cd_log_unread();
    return diverged(call, entry.header(), difference);
}

void record_arrived(const Request &request, const MPI_Status &status, int result) {
    Call call;
    call.fn = Fn::MPI_Request_free;
    auto types = RequestTable::instance().hold_types();
    EntryWriter writer(call, result);
    writer.set(EntryHeader::arrived);
    writer.add(request.id);
    writer.add(static_cast<uint64_t>(request.arrivals.size()));
    add_arrivals(writer, request, status, result);
    types.unlock();
    writer.write();
}

bool deliver_arrived(EntryReader &entry) {
    RequestTable &table = RequestTable::instance();
    const auto id = entry.take<uint64_t>();
    const auto blocks = entry.take<uint64_t>();
    Request *const request = id != 0 ? table.find(id) : nullptr;
    {
        const auto types = table.hold_types();
        if (!take_arrivals(entry, id, request, blocks)) {
            return false;
        }
    }
    if (request != nullptr) {
        complete(*request);
    }
    return true;
}

} // namespace cd::logger
