// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/mpi_log.h"

#include <cstdint>

namespace cd::logger {

// Handles of objects that live on although the program has freed them, of kinds of which MPI gives
// a handle once, so that nobody has to free one again. Thread-safe.
class FreedHandles {
public:
    // The entry at place says that the program has freed it: until a restore goes back to before.
    static void add(uint64_t handle, const cd_log_place &place);
    static bool has(uint64_t handle);
    // MPI is about to free the object: its handle may come to mean another one. Whether it was one
    // of them; else a restore has given the program the object back.
    static bool remove(uint64_t handle);
};

} // namespace cd::logger
