// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "log_entry/writer.h"

#include <cstdint>

namespace cd::logger {

// A completed request, as it stands in the log.
struct Finished {
    static constexpr uint32_t no_data = UINT32_MAX;

    int32_t slot = 0;
    uint32_t blocks = no_data; // that follow, and their data after them
    uint64_t id = 0;           // of the start; 0 if no log has that
    uint64_t becomes_null : 1 = 0;
    uint64_t handle : 63 = 0; // that the program had; 0 of one that only MPI knows

    void set_handle(MPI_Request held) { handle = shortened(held); }
    bool has(MPI_Request held) const { return handle == shortened(held); }

private:
    static uint64_t shortened(MPI_Request held) { return word_of(held) & (UINT64_MAX >> 1); }
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
    writer.add(finished.id);
    writer.add(uint64_t{finished.becomes_null | finished.handle << 1});
}
static_assert(sizeof(Finished) == 24);

inline void write(EntryWriter &writer, const Ending &ending) {
    for (const int32_t field :
         {ending.flag, ending.index, ending.finished, ending.indices, ending.statuses}) {
        writer.add(field);
    }
}
static_assert(sizeof(Ending) == 20);

} // namespace cd::logger
