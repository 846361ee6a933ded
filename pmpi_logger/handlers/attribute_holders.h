// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <mpi.h>

namespace cd::logger {

// Communicators of this rank alone that have the attributes of those which MPI has freed, and which
// a replay still uses: MPI calls the program's functions for them.
class AttributeHolders {
public:
    // Whose attributes are changed: comm itself, unless MPI has freed it.
    static MPI_Comm of(MPI_Comm comm);
    template <typename Object> static Object of(Object object) { return object; }

    // That of the Owner with this number. MPI_COMM_NULL if it has had no attributes.
    static MPI_Comm find(int number);
    // The program has freed it, or the log is forgotten.
    static void remove(int number);
};

} // namespace cd::logger
