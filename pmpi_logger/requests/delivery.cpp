// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "requests/delivery.h"

#include "mpi/real.h"
#include "objects/deferred_free.h"
#include "payload/mpi_status.h"
#include "payload/pack.h"
#include "requests/replayed_request.h"
#include "requests/request_table.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace cd::logger {
namespace {

std::mutex mutex;

// By the numbers of the starts. Never destroyed: MPI may be used while the process ends.
std::unordered_map<uint64_t, Reexecuted> &reexecuted() {
    static auto &of_starts = *new std::unordered_map<uint64_t, Reexecuted>;
    return of_starts;
}

} // namespace

size_t bytes_brought(const Request &request, const MPI_Status &status, int result) {
    const bool by_message = request.kind == Request::Kind::receive ||
                            request.kind == Request::Kind::matched ||
                            (request.kind == Request::Kind::file && !request.arrivals.empty());
    if (!by_message || result != MPI_SUCCESS) {
        return everything;
    }
    // Open MPI does not set whether a file operation was cancelled.
    const bool cancelled = request.kind != Request::Kind::file && was_cancelled(status);
    return cancelled ? 0 : bytes_received(status);
}

void deliver_staged(Request &request, const MPI_Status &status, int result) {
    const int error = result == MPI_ERR_IN_STATUS ? status.MPI_ERROR : result;
    if (request.staging.empty() || error != MPI_SUCCESS || request.reported) {
        return;
    }
    if (request.parts_delivered.empty()) {
        request.staging.deliver(request.arrivals, bytes_brought(request, status, error));
    } else {
        for (int part = 0; part < request.partitions; ++part) {
            deliver_staged_part(request, part);
        }
    }
}

void deliver_staged_part(Request &request, int part) {
    if (request.staging.empty() || request.reported) {
        return;
    }
    if (request.parts_delivered.empty() || !request.parts_delivered[static_cast<size_t>(part)]) {
        request.staging.deliver(request.arrivals.front(), part, request.partitions);
        note_part_delivered(request, part);
    }
}

void note_part_delivered(Request &request, int part) {
    request.parts_delivered.resize(static_cast<size_t>(request.partitions));
    request.parts_delivered[static_cast<size_t>(part)] = true;
}

void forget_made_anew(Request &request) {
    if (request.made_anew != MPI_REQUEST_NULL) {
        real<Fn::MPI_Request_free>(&request.made_anew);
        --RequestTable::instance().stand_ins;
    }
}

void deliver_kept(const Request &request) {
    const std::byte *from = request.data.data();
    size_t left = request.data.size();
    for (const Block &block : request.arrivals) {
        const size_t size = std::min(left, bytes_in(block));
        deliver(block, from, size);
        from += size;
        left -= size;
    }
}

void complete_in_mpi(Request &request, const MPI_Status &status, int result) {
    request.error = result;
    request.stand_in = completed_request(status, result == lost ? MPI_ERR_OTHER : result);
    ++RequestTable::instance().stand_ins;
    request.state = Request::State::active;
}

void complete(Request &request) {
    RequestTable &table = RequestTable::instance();
    const bool generalized = request.kind == Request::Kind::generalized;
    if (request.stand_in != MPI_REQUEST_NULL) {
        // The request that the program held is complete already.
        MPI_Request held = request.handle;
        if (!generalized && !request.persistent) {
            real<Fn::MPI_Wait>(&held, MPI_STATUS_IGNORE);
        }
        request.stand_in = MPI_REQUEST_NULL;
        --table.stand_ins;
    }
    if (request.persistent) {
        table.ended(request);
        return;
    }
    // Another request may already have any other handle.
    const bool holds_placeholder = request.state == Request::State::replayed && !generalized;
    const MPI_Request placeholder = holds_placeholder ? request.handle : MPI_REQUEST_NULL;
    table.remove(request);
    if (holds_placeholder) {
        give_placeholder(placeholder);
    }
}

void note_reexecuted(const Request &request, uint64_t id) {
    const std::optional<cd_log_place> end = id != 0 ? last_entry() : std::nullopt;
    if (!end || cd_log_parts(&request.place, &*end) == 0) {
        return; // no replay begins between the two
    }
    {
        const std::scoped_lock lock(mutex);
        reexecuted()[id] = {request.handle, request.arrivals};
    }
    when_forgotten(*end, [id] {
        const std::scoped_lock lock(mutex);
        reexecuted().erase(id);
    });
}

std::optional<Reexecuted> find_reexecuted(uint64_t id) {
    const std::scoped_lock lock(mutex);
    const auto known = reexecuted().find(id);
    return known != reexecuted().end() ? std::optional(known->second) : std::nullopt;
}

void add_arrivals(EntryWriter &writer, const Request &request, const MPI_Status &status,
                  int result) {
    writer.add(request.arrivals.data(), sizeof(Block) * request.arrivals.size());
    writer.add_data(request.arrivals, bytes_brought(request, status, result));
}

bool take_arrivals(EntryReader &entry, uint64_t id, const Request *request, size_t blocks) {
    Blocks places(blocks);
    const size_t size = sizeof(Block) * blocks;
    const std::byte *const recorded = entry.take(size);
    if (size > 0) {
        std::memcpy(static_cast<void *>(places.data()), recorded, size);
    }
    if (request == nullptr) {
        if (std::optional<Reexecuted> known = find_reexecuted(id)) {
            places = std::move(known->arrivals);
        }
    } else {
        places = request->arrivals;
    }
    return places.size() == blocks && entry.take_data(places);
}

void skip_arrivals(EntryReader &entry, size_t blocks) {
    entry.take(sizeof(Block) * blocks);
    for (; blocks > 0; --blocks) {
        entry.take(entry.take<uint64_t>());
    }
}

} // namespace cd::logger
