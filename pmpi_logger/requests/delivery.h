// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "log_entry/reader.h"
#include "log_entry/writer.h"
#include "requests/request.h"

#include <climits>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace cd::logger {

// Returns how many bytes a completed request brought.
size_t bytes_brought(const Request &request, const MPI_Status &status, int result);

// Copies what a completed request brought from its staging to the program's buffers, once.
void deliver_staged(Request &request, const MPI_Status &status, int result);

// Copies one part of a partitioned receive; notes that the log delivered a part.
void deliver_staged_part(Request &request, int part);
void note_part_delivered(Request &request, int part);

// Returns true if the data are to be recorded with the end of the request. After
// MPI_Request_get_status reported it complete, the memory is the program's again.
inline bool still_brings_data(const Request &request) {
    return !request.arrivals.empty() && !request.reported;
}

// Frees the persistent request that was made with other buffers, if there is one.
void forget_made_anew(Request &request);

// Delivers the data that a restore kept of a request that was complete.
void deliver_kept(const Request &request);

// The result of a request whose data or status no log has. No error code of MPI has this value. The
// request fails with MPI_ERR_OTHER.
constexpr int lost = INT_MIN;

// Gives MPI a complete request in place of one that only a log would complete. MPI returns `status`
// and `result` for it.
void complete_in_mpi(Request &request, const MPI_Status &status, int result);

// Must be called when MPI, or the log, has completed the request. Stops tracking it, or makes it
// inactive if it is persistent.
void complete(Request &request);

// Writes the buffers of a completed request and their data to an entry. The caller holds the types
// (hold_types).
void add_arrivals(EntryWriter &writer, const Request &request, const MPI_Status &status,
                  int result);

// Delivers the data that add_arrivals() wrote. `request` is nullptr if the request is older than
// what is replayed. The data then go to the buffers that its last execution used. `id` is the
// number of its start. Returns false if the data do not fit.
bool take_arrivals(EntryReader &entry, uint64_t id, const Request *request, size_t blocks);

// The handle and the buffers that the last re-execution used for a request. A CD that began between
// start and end needs them when it is restored alone.
struct Reexecuted {
    MPI_Request handle = MPI_REQUEST_NULL;
    Blocks arrivals;
};

// Must be called after the entry was read that ends the request, and before the request is
// complete. `id` is the number of its start. Thread-safe.
void note_reexecuted(const Request &request, uint64_t id);
std::optional<Reexecuted> find_reexecuted(uint64_t id);

// Skips the data.
void skip_arrivals(EntryReader &entry, size_t blocks);

} // namespace cd::logger
