// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <mpi.h>

namespace cd::logger {

// A committed type that describes the same data, for when the program frees its own;
// MPI_DATATYPE_NULL if MPI has none. The caller frees it. MPI calls no function of the program for
// it, as it does for the attributes of what MPI_Type_dup makes.
MPI_Datatype copy_of_type(MPI_Datatype type);

} // namespace cd::logger
