// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "log_entry/writer.h"

#include <cstdint>

namespace cd::logger {

// A completed request in a log entry.
struct Finished {
    static constexpr uint32_t no_data = UINT32_MAX;

    int32_t slot = 0;
    uint32_t blocks = no_data; // number of blocks that follow, before their data
    uint64_t id = 0;           // number of its start, 0 if that is not logged
    uint64_t becomes_null : 1 = 0;
    uint64_t handle : 63 = 0; // the program's handle, 0 for an untracked request

    void set_handle(MPI_Request held) { handle = shortened(held); }
    bool has(MPI_Request held) const { return handle == shortened(held); }

private:
    static uint64_t shortened(MPI_Request held) { return word_of(held) & (UINT64_MAX >> 1); }
};

// The outcome of a call of the Wait and Test family in a log entry. Its indices, statuses and
// completed requests follow.
struct Ending {
    int32_t flag = 0;
    int32_t index = 0;
    int32_t finished = 0;
    int32_t indices = 0;  // that follow
    int32_t statuses = 0; // that follow
};

// Writes field by field: reading a struct right after its parts were written is slow.
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
