// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "requests/request.h"

#include <climits>
#include <cstddef>

namespace cd::logger {

// How many bytes came with a completion.
size_t bytes_brought(const Request &request, const MPI_Status &status, int result);

// The program gets what a request has brought that is complete, if it lies elsewhere; once.
void deliver_staged(Request &request, const MPI_Status &status, int result);

// A call that leaves the request has told the program that the data are there. at: the entry that
// has them, 0 if none has.
void note_told(Request &request, const cd_log_place &at);

// The same of one part that has arrived; and that the program has it from elsewhere.
void deliver_staged_part(Request &request, int part);
void note_part_delivered(Request &request, int part);

// Whether what it brings has a place in the program's memory.
inline bool brings_data(const Request &request) { return !request.arrivals.empty(); }

// Whether its end is to be recorded with that. A call that told of it may have brought the data:
// the program may have changed them since, or have taken the memory away.
inline bool still_brings_data(const Request &request) {
    return brings_data(request) && request.told == 0;
}

// Frees the one that other buffers have, if there is one.
void forget_made_anew(Request &request);

// Delivers the data of a parked request.
void deliver_kept(const Request &request);

// In place of a result, which is none of MPI's: no log has the data, or the status. It fails with
// MPI_ERR_OTHER.
constexpr int lost = INT_MIN;

// MPI, which knows nothing of a request that only a log would complete, has one now that is
// complete.
void complete_in_mpi(Request &request, const MPI_Status &status, int result);

// MPI, or the log, has completed the request: it is not tracked any more, or is inactive if it is
// persistent.
void complete(Request &request);

} // namespace cd::logger
