// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "log_entry/reader.h"
#include "log_entry/writer.h"
#include "requests/request.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace cd::logger {

// Writes the buffers of a completed request and their data to an entry. The caller holds the types
// (hold_types).
void add_arrivals(EntryWriter &writer, const Request &request, const MPI_Status &status,
                  int result);

// Delivers the data that add_arrivals() wrote. `request` is nullptr if the request is older than
// what is replayed. The data then go to the buffers that its last execution used. `id` is the
// number of its start. Returns false if the data do not fit.
bool take_arrivals(EntryReader &entry, uint64_t id, const Request *request, size_t blocks);

// The handle and the buffers that the last re-execution used for a request, where they differ from
// the log. A CD that began between start and end needs them when it is restored alone.
struct Reexecuted {
    MPI_Request handle = MPI_REQUEST_NULL;
    Blocks arrivals;
};

// Must be called after the entry was read that ends the request, and before the request is
// complete. `id` is the number of its start. Thread-safe.
void note_reexecuted(const Request &request, uint64_t id, bool differs);
std::optional<Reexecuted> find_reexecuted(uint64_t id);

// Skips the data.
void skip_arrivals(EntryReader &entry, size_t blocks);

} // namespace cd::logger
