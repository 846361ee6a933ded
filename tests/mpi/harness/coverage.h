// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <string>

namespace cd::scenarios {

// Files with what is known from elsewhere.
struct Sources {
    std::string declared;       // what mpi.h declares
    std::string not_yet_proven; // the rows of functions.def that no scenario stands behind
    // What comes before the name of an interface in that of its report; empty if there is no
    // Fortran.
    std::string fortran;
    std::string not_in_fortran; // what is called in no Fortran, and why
};

// Prints a line for each function of this MPI: left to MPI, recorded and replayed, refused; by
// which scenario in C, and in each interface of Fortran. Returns how many are wrong.
int report_coverage(const Sources &sources);

} // namespace cd::scenarios
