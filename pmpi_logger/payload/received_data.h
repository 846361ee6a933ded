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
    static const Arrival nothing_told_by_root; // one rank tells MPI what it needs
    static const Arrival message;              // as many bytes of the buffer as the status tells
    static const Arrival fetched;              // what is sent need not be memory
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

    // For how many ranks a call has counts and displacements, or types; 0 where MPI does not look
    // at them.
    static int ranks_sent_to(const Call &call);
    static int ranks_received_from(const Call &call);

    // Whether what is sent is the send buffer as it is given, if it is, and what is received the
    // receive buffer, or nothing: then the two below tell it at once, without the ways above.
    static constexpr bool is_plain(const Arrival &way) {
        return &way == &nothing || &way == &message || &way == &allreduce;
    }
    static constexpr bool is_received(const Arrival &plain) { return &plain != &nothing; }
    static bool is_sent(const Arguments &a) {
        return a.send_type != MPI_DATATYPE_NULL && a.send_buf != MPI_IN_PLACE;
    }
    static Block sent(const Arguments &a) {
        return {const_cast<void *>(a.send_buf), a.send_count, a.send_type};
    }
    static Block received(const Arguments &a) { return {a.recv_buf, a.recv_count, a.recv_type}; }
};

} // namespace cd::logger
