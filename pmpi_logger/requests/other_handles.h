// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstdint>
#include <mpi.h>
#include <optional>

namespace cd::logger {

// Which handles requests had in a re-execution that ended them, where those are others than in the
// log: a CD that began in between may be restored, and the program has them again there. By the
// numbers of the requests' starts. Thread-safe.
class OtherHandles {
public:
    // By the entry that was read last. is_other: than the one that the log has.
    static void note(uint64_t id, MPI_Request handle, bool is_other);

    static std::optional<MPI_Request> of(uint64_t id);
};

} // namespace cd::logger
