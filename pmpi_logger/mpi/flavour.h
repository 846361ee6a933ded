// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

namespace cd::logger {

// Ends the process, and says why, if the object that has `address` uses an MPI of another flavour
// than this logger is built for. An object is the program or a library.
void require_own_flavour(const void *address);

} // namespace cd::logger
