// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/mpi_log.h"

#include <vector>

namespace cd::logger {

// Which entries a restore of a CD replays, as things are now. Made while no lock of the logger's is
// held, since it takes the CD's: another thread may hold that, and be in a function of the
// program's that calls MPI.
class Reach {
public:
    explicit Reach(cd_handle cd);
    bool covers(const cd_log_place &place) const;

private:
    std::vector<cd_log_place> begins_; // in the order of their streams
};

} // namespace cd::logger
