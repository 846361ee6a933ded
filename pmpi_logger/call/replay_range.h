// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/mpi_log.h"

#include <cstdint>
#include <vector>

namespace cd::logger {

// The entries that a restore of a CD replays. Construct it without holding a lock of the logger: it
// takes the CD's lock, which another thread may hold while it calls MPI.
class ReplayRange {
public:
    explicit ReplayRange(cd_handle cd);
    bool covers(const cd_log_place &place) const;

private:
    std::vector<cd_log_place> begins_; // sorted by stream
};

} // namespace cd::logger
