// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "replay/arrived.h"

#include "entry/writer.h"
#include "requests/completion.h"
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
    writer.add(request.arrivals.data(), sizeof(Block) * request.arrivals.size());
    writer.add_data(request.arrivals, bytes_brought(request, status, result));
    types.unlock();
    writer.write();
}

bool deliver_arrived(EntryReader &entry) {
    RequestTable &table = RequestTable::instance();
    const auto id = entry.take<uint64_t>();
    Blocks recorded(entry.take<uint64_t>());
    const size_t size = sizeof(Block) * recorded.size();
    const std::byte *const blocks = entry.take(size);
    if (size > 0) {
        std::memcpy(static_cast<void *>(recorded.data()), blocks, size);
    }
    // One that is older than the CD has its data where it had them.
    Request *const request = id != 0 ? table.find(id) : nullptr;
    {
        const auto types = table.hold_types();
        const Blocks &arrivals = request != nullptr ? request->arrivals : recorded;
        if (!entry.take_data(arrivals)) {
            return false;
        }
    }
    if (request != nullptr) {
        complete(*request);
    }
    return true;
}

} // namespace cd::logger
