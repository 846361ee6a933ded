// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <mpi.h>

namespace cd::logger {

// Elements of an MPI datatype in the program's memory.
struct Block {
    void *address = nullptr;
    int64_t count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
};

// Blocks in the order in which their bytes stand in the log. Most calls have one.
using Blocks = boost::container::small_vector<Block, 1>;

} // namespace cd::logger
