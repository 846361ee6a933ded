// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "entry/writer.h"

#include <cstdint>

namespace cd::logger {

// A completed request, as it stands in the log.
struct Finished {
    static constexpr uint32_t no_data = UINT32_MAX;

    int32_t slot = 0;
    uint32_t blocks = no_data; // that follow, and their data after them
    uint64_t becomes_null : 1 = 0;
    uint64_t is_handle : 1 = 0; // who is that of one whose start no log has; else it is the start's
    uint64_t who : 62 = 0;      // number, 0 of one that only MPI knows

    uint64_t id() const { return is_handle != 0 ? 0 : uint64_t{who}; }
    void set_who(const Request &request, MPI_Request handle) {
        is_handle = request.logged() ? 0 : 1;
        who = (request.logged() ? request.id : word_of(handle)) & most_who;
    }
    // Whether a request that the log answers for is called by the handle that it had then. One
    // whose start a log has may have another one by now.
    bool may_be(MPI_Request handle) const {
        return who == 0 ||
               (is_handle != 0 ? (word_of(handle) & most_who) == who : handle != MPI_REQUEST_NULL);
    }

private:
    static constexpr uint64_t most_who = UINT64_MAX >> 2;
};

// How a call of the Wait and Test family ended, as it stands in the log: its indices and statuses
// follow, and the requests that it completed.
struct Ending {
    int32_t flag = 0;
    int32_t index = 0;
    int32_t finished = 0;
    int32_t indices = 0;  // that follow
    int32_t statuses = 0; // that follow

    // Of all requests that the call is about, in their order, and not of those that it completed.
    bool has_status_of_each() const { return statuses > 1 && indices == 0; }
};

// Field by field: what has just been written in parts is slow to be read as a whole.
inline void write(EntryWriter &writer, const Finished &finished) {
    writer.add(finished.slot);
    writer.add(finished.blocks);
    writer.add(uint64_t{finished.becomes_null | finished.is_handle << 1 | finished.who << 2});
}
static_assert(sizeof(Finished) == 16);

inline void write(EntryWriter &writer, const Ending &ending) {
    for (const int32_t field :
         {ending.flag, ending.index, ending.finished, ending.indices, ending.statuses}) {
        writer.add(field);
    }
}
static_assert(sizeof(Ending) == 20);

} // namespace cd::logger
