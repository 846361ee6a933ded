// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/mpi_log.h"

#include <cstdint>
#include <mpi.h>
#include <optional>

namespace cd::logger {

// Which handles requests had in a re-execution that ended them, where those are others than in the
// log: a CD that began in between may be restored, and the program has them again there. By the
// numbers of the requests' starts. Thread-safe.
class OtherHandles {
public:
    // By the entry that was read last. start: where that of the request is. is_other: than the one
    // that the log has. Nothing is kept where no restore could replay the end without the start.
    static void note(uint64_t id, const cd_log_place &start, MPI_Request handle, bool is_other);

    static std::optional<MPI_Request> of(uint64_t id);
};

} // namespace cd::logger
