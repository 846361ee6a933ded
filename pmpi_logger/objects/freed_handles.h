// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/mpi_log.h"

#include <cstdint>

namespace cd::logger {

// Handles of objects that live on although the program has freed them: one for each free in a log,
// until that log is deleted or a restore gives the object back. Thread-safe.
class FreedHandles {
public:
    // Notes a free that the entry at `place` records. A restore to before it takes the note back.
    // `which` numbers the objects that callbacks of the program freed inside of that call.
    static void add(uint64_t handle, const cd_log_place &place, uint64_t which = 0);
    // Repeats the frees inside of the call whose entry a replay has read. The replay does not run
    // the callbacks that made them.
    static void add_again();
    static bool has(uint64_t handle);
    // Must be called before MPI frees the object of the entry, as its handle may then mean another
    // one. Returns false if a restore has given the object back to the program.
    static bool remove(const cd_log_place &place, uint64_t which = 0);
};

} // namespace cd::logger
