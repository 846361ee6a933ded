// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "random.h"
#include "state.h"

#include <mpi.h>
#include <vector>

// What a rank sends depends on all that it has received so far.
void fill(int *data, int count, uint64_t seed, const State &state);
uint64_t hash_of(const int *data, int count);

int some_count(Random &random);

// count numbers with gaps, as many kinds of types have them; to be freed.
struct Layout {
    MPI_Datatype type;
    int elements; // of type
    int stride;   // from one number to the next
    int span(int count) const { return count > 0 ? (count - 1) * stride + 1 : 0; }
};
Layout some_layout(Random &random, int count);
std::vector<int> spread(const Layout &layout, const std::vector<int> &numbers);
std::vector<int> gather(const Layout &layout, const std::vector<int> &memory, int count);

// Source, tag and length.
uint64_t hash_of(const MPI_Status &status, MPI_Datatype type);
