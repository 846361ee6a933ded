// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <string>

namespace cd::logger {

// Removes what an earlier run has left of the log files in directory: the rank's own, and, if it is
// the first of size ranks, those of ranks that there are not any more. Nothing if another job
// writes there just now, nothing that a process has open, or that has the name of one.
void remove_earlier_files(const std::string &directory, int rank, int size);

} // namespace cd::logger
