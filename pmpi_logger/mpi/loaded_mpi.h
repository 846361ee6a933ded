// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

namespace cd::logger {

// Looks at the MPI that a program has loaded. An object is the program or a library.

// Finds a name in the object that has `address`, or in one that it needs. Returns nullptr if there
// is none, or if `address` is in the program itself.
void *find_symbol(const void *address, const char *name);

// Ends the process, and says why, if the object that has `address` uses an MPI of another flavour
// than this logger is built for.
void require_own_flavour(const void *address);

} // namespace cd::logger
