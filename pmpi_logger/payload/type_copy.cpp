// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "payload/type_copy.h"

#include "mpi/real.h"

namespace cd::logger {

MPI_Datatype copy_of_type(MPI_Datatype type) {
    MPI_Datatype copy = MPI_DATATYPE_NULL;
    if (real<Fn::MPI_Type_contiguous>(1, type, &copy) == MPI_SUCCESS) {
        real<Fn::MPI_Type_commit>(&copy);
    }
    return copy;
}

} // namespace cd::logger
