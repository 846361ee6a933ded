// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "replay/arrived.h"

#include "log_entry/writer.h"
#include "requests/completion.h"
#include "requests/logged_arrivals.h"
#include "requests/table.h"

#include <cstring>

namespace cd::logger {

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
