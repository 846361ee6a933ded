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

// What a request has brought, as it stands in an entry: where, and the data. The caller holds the
// types.
void add_arrivals(EntryWriter &writer, const Request &request, const MPI_Status &status,
                  int result);

// request: nullptr if a replay does not know it, as the request is older than what is replayed; id:
// the number of its start. Then the data go to where the latest execution had them that knew it,
// or the first. False if they are not those that are expected.
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

// Nobody gets them.
void skip_arrivals(EntryReader &entry, size_t blocks);

} // namespace cd::logger
