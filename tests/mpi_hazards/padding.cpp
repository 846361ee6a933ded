// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Bytes of numbers that mean nothing: nobody writes them, so that a re-execution sends others.
#include "hazard.h"

#include <cstring>

namespace padding {

namespace {

struct Located {
    long double value;
    int place;
};

} // namespace

HAZARD(padding_of_long_numbers_may_differ) {
    if (sizeof(long double) == 8 || __LDBL_MANT_DIG__ > 64) {
        return; // they have no such bytes here
    }
    Domain domain;
    const auto execute = [](int garbage) {
        Located sent;
        std::memset(&sent, garbage, sizeof sent);
        sent.value = 1.0L + world_rank();
        sent.place = world_rank();
        Located largest = {};
        MPI_Allreduce(&sent, &largest, 1, MPI_LONG_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
        CHECK(largest.value == 2.0L && largest.place == 1);
        MPI_Datatype pair = MPI_DATATYPE_NULL;
        MPI_Type_contiguous(2, MPI_LONG_DOUBLE, &pair);
        MPI_Type_commit(&pair);
        long double both[2];
        std::memset(both, garbage, sizeof both);
        both[0] = both[1] = 3.0L;
        long double received[2] = {};
        MPI_Sendrecv(both, 1, pair, 1 - world_rank(), 1, received, 1, pair, 1 - world_rank(), 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(received[0] == 3.0L && received[1] == 3.0L);
        MPI_Type_free(&pair);
    };
    execute(0x55);
    domain.restore();
    execute(0xAA);
    CHECK(domain.info().replaying == 0);
}

} // namespace padding
