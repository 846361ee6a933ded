// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <string>

namespace cd::scenarios {

// Prints a line for each function of this MPI: local, recorded and replayed, refused; by which
// scenario. declared: a file that lists what mpi.h declares. not_yet_proven: a file that lists the
// rows of functions.def that no scenario stands behind. Returns how many are wrong.
int report_coverage(const std::string &declared, const std::string &not_yet_proven);

} // namespace cd::scenarios
