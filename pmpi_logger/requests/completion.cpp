// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "requests/completion.h"

#include "log_entry/writer.h"
#include "mpi/real.h"
#include "payload/pack.h"
#include "payload/status.h"
#include "requests/replayed_request.h"
#include "requests/table.h"

#include <algorithm>

namespace cd::logger {

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
    if (request.staging.empty() || error != MPI_SUCCESS || request.delivered) {
        return;
    }
    if (request.parts_delivered.empty()) {
        request.staging.deliver(request.arrivals, bytes_brought(request, status, error));
    } else {
        for (int part = 0; part < request.partitions; ++part) {
            deliver_staged_part(request, part);
        }
    }
    request.delivered = true;
}

void note_told(Request &request, const cd_log_place &at) {
    request.delivered = true;
    request.told = cd_log_moment(nullptr);
    request.told_at = at;
    request.only_in_log = false;
}

void deliver_staged_part(Request &request, int part) {
    if (request.staging.empty() || request.delivered) {
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
    if (request.freed) {
        complete(request);
        return;
    }
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
        if (generalized) {
            give_generalized(held);
        } else if (!request.persistent) {
            real<Fn::MPI_Wait>(&held, MPI_STATUS_IGNORE);
        }
        request.stand_in = MPI_REQUEST_NULL;
        --table.stand_ins;
    }
    if (!request.persistent) {
        const bool holds_placeholder = request.state == Request::State::replayed;
        // Another request may already have any other handle.
        const MPI_Request placeholder = holds_placeholder ? request.handle : MPI_REQUEST_NULL;
        table.remove(request);
        if (holds_placeholder && generalized) {
            give_generalized(placeholder);
        } else if (holds_placeholder) {
            give_placeholder(placeholder);
        }
        return;
    }
    table.ended(request);
}

} // namespace cd::logger
