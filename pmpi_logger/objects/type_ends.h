// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <mpi.h>

namespace cd::logger {

// MPI has a type for as long as any handle or another type refers to it, and alone knows when the
// last of them goes. From then on a restore leaves this one alone.
void notice_end(MPI_Datatype type);

} // namespace cd::logger
