// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "types.h"

MPI_Datatype column_type() {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_vector(rows, 1, columns, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

void make_other_types() {
    for (int i = 1; i < 20; ++i) {
        MPI_Datatype other = MPI_DATATYPE_NULL;
        MPI_Type_contiguous(i, MPI_INT, &other);
        MPI_Type_commit(&other);
    }
}
