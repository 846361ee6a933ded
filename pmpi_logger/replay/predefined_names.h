// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <cstdint>

namespace cd::logger {

// Names of MPI's predefined objects and constants by their word in the log; nullptr for all others.
// The signature of a basic type is its handle.
const char *name_of_type(uint64_t word);
const char *name_of_operation(uint64_t word);
const char *name_of_comm(uint64_t word);
const char *name_of_rank(uint64_t word);
const char *name_of_tag(uint64_t word);

} // namespace cd::logger
