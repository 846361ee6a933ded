// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/call.h"

namespace cd::logger {

// Which bytes a call brings to this rank, and which it sends, for each kind of MPI call.
// functions.def names the kind of each function. Data for other ranks are not logged.
struct Arrivals {
    static const Arrival nothing;               // sends its buffer; writes of files do so too
    static const Arrival nothing_given_by_root; // only the root's arguments count
    static const Arrival message;               // as many bytes as the status says
    static const Arrival fetched;               // what is sent may be no memory
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

    // Returns for how many ranks a call has counts and displacements, or types; 0 where MPI ignores
    // them.
    static int ranks_sent_to(const Call &call);
    static int ranks_received_from(const Call &call);

    // True if the call sends its send buffer as it is given and receives into its receive buffer or
    // nothing. Then the functions below answer without a list of blocks.
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
