// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/call.h"

namespace cd::logger {

// Which bytes a call brings to this rank, and which it sends from here, for each way that MPI has.
// functions.def names one for each function. What a call brings to nobody here is not in the log:
// nothing at the root of a broadcast, nothing of a reduction away from its root.
struct Arrivals {
    static const Arrival nothing; // sends what it is given; files are written like that, too
    static const Arrival message; // as many bytes of the buffer as the status tells
    static const Arrival fetched; // what is sent need not be memory
    static const Arrival message_replaced;
    static const Arrival partitioned;
    static const Arrival bcast;
    static const Arrival gather;
    static const Arrival gatherv;
    static const Arrival scatter;
    static const Arrival scatterv;
    static const Arrival allgather;
    static const Arrival allgatherv;
    static const Arrival alltoall;
    static const Arrival alltoallv;
    static const Arrival alltoallw;
    static const Arrival reduce;
    static const Arrival allreduce;
    static const Arrival reduce_scatter;
    static const Arrival reduce_scatter_block;
    static const Arrival exscan;
    static const Arrival neighbor_allgather;
    static const Arrival neighbor_allgatherv;
    static const Arrival neighbor_alltoall;
    static const Arrival neighbor_alltoallv;
    static const Arrival neighbor_alltoallw;
};

} // namespace cd::logger
