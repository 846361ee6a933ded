// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/mpi_log.h"

#include <cstdint>

namespace cd::logger {

// Handles of objects that live on although the program has freed them: each free that a log has,
// until that log goes, or a restore gives the program the object back. Thread-safe.
class FreedHandles {
public:
    // The entry at place says that the program has freed it: until a restore goes back to before.
    // which: of those that functions of the program have freed inside of that call.
    static void add(uint64_t handle, const cd_log_place &place, uint64_t which = 0);
    // A replay has read an entry, and does not call what has freed some inside of its call: the
    // program has freed these again.
    static void add_again();
    static bool has(uint64_t handle);
    // MPI is about to free what the entry at place says: its handle may come to mean another one.
    // False if a restore has given the program the object back.
    static bool remove(const cd_log_place &place, uint64_t which = 0);
};

} // namespace cd::logger
