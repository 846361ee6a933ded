// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "cd/mpi_log.h"

#include <cstdint>
#include <vector>

namespace cd::logger {

// Which entries a restore of a CD replays, and what it goes back behind, as things are now. Made
// while no lock of the logger's is held, since it takes the CD's: another thread may hold that, and
// be in a function of the program's that calls MPI.
class Reach {
public:
    explicit Reach(cd_handle cd);
    bool covers(const cd_log_place &place) const;
    // Whether the CD's point in time is later than that, as cd_log_moment() counts.
    bool begins_after(uint64_t moment) const { return moment < moment_; }

private:
    uint64_t moment_;
    std::vector<cd_log_place> begins_; // in the order of their streams
};

} // namespace cd::logger
