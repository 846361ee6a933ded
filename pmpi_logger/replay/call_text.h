// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "mpi/function.h"

#include <cstdint>
#include <string>

namespace cd::logger {

// A call as a person reads it: its name, and what of it is compared, where that has a name by that.
// MPI is not asked: a handle of the program's may be none.
std::string text_of(Fn fn, const uint64_t *words, int count);

// Whether two calls of a function differ, and that in nothing but checksums of data.
bool differ_in_data(Fn fn, const uint64_t *words, const uint64_t *others, int count);

// What the program has called the communicators among these, one a line; MPI says so, who ends the
// program if one is none.
std::string names_of_comms(Fn fn, const uint64_t *words, int count);

} // namespace cd::logger
