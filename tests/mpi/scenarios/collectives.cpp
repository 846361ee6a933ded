// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Collective operations on intracommunicators.

#include "harness/collective.h"

namespace collectives {

namespace {

using namespace cd::scenarios;

// Each rank's part has another length, and between the parts is a gap.
struct Parts {
    explicit Parts(int size) {
        Displacement at = 1;
        for (int i = 0; i < size; ++i) {
            counts.push_back(i + 1);
            displacements.push_back(at);
            at += i + 3;
        }
        extent = static_cast<size_t>(at);
    }
    std::vector<Count> counts;
    std::vector<Displacement> displacements;
    size_t extent;
};

template <typename Call> void bcast_calls(Run &run, const Call &call) {
    for (const int root : {0, run.size - 1}) {
        auto buffer = sequence(5, 10 * run.rank);
        CALL(call(buffer, 5, MPI_INT, root, MPI_COMM_WORLD));
        run.out.buffer("buffer", buffer);
    }
    CALL(call(nullptr, 0, MPI_INT, 0, MPI_COMM_WORLD));
}
COLLECTIVE(Bcast, bcast)

template <typename Call> void gather_calls(Run &run, const Call &call) {
    const auto sent = sequence(2, 10 * run.rank);
    Buffer<int> all(2 * run.size);
    const bool is_root = run.rank == 1;
    CALL(call(sent, 2, MPI_INT, is_root ? all.data() : nullptr, is_root ? 2 : 0, MPI_INT, 1,
              MPI_COMM_WORLD));
    run.out.buffer("all", all);
    all[2] = 5;
    all[3] = 6;
    const void *in_place = is_root ? MPI_IN_PLACE : sent.data();
    CALL(call(in_place, 2, MPI_INT, all, 2, MPI_INT, 1, MPI_COMM_WORLD));
    run.out.buffer("in place", all);
}
COLLECTIVE(Gather, gather)

template <typename Call> void gatherv_calls(Run &run, const Call &call) {
    const Parts parts(run.size);
    const auto sent = sequence(run.rank + 1, 10 * run.rank);
    Buffer<int> all(parts.extent);
    CALL(call(sent, run.rank + 1, MPI_INT, all, parts.counts.data(), parts.displacements.data(),
              MPI_INT, 0, MPI_COMM_WORLD));
    run.out.buffer("all", all);
    const void *in_place = run.rank == 0 ? MPI_IN_PLACE : sent.data();
    CALL(call(in_place, run.rank + 1, MPI_INT, all, parts.counts.data(), parts.displacements.data(),
              MPI_INT, 0, MPI_COMM_WORLD));
    run.out.buffer("in place", all);
}
COLLECTIVE(Gatherv, gatherv)

template <typename Call> void scatter_calls(Run &run, const Call &call) {
    const auto all = sequence(2 * run.size, 100);
    Buffer<int> received(3);
    CALL(call(all, 2, MPI_INT, received, 2, MPI_INT, 0, MPI_COMM_WORLD));
    run.out.buffer("received", received);
    void *in_place = run.rank == 0 ? MPI_IN_PLACE : received.data();
    CALL(call(all, 1, MPI_INT, in_place, 1, MPI_INT, 0, MPI_COMM_WORLD));
    run.out.buffer("in place", received);
}
COLLECTIVE(Scatter, scatter)

template <typename Call> void scatterv_calls(Run &run, const Call &call) {
    const Parts parts(run.size);
    const auto all = sequence(static_cast<int>(parts.extent), 100);
    Buffer<int> received(run.size + 1);
    const int root = run.size - 1;
    CALL(call(all, parts.counts.data(), parts.displacements.data(), MPI_INT, received, run.rank + 1,
              MPI_INT, root, MPI_COMM_WORLD));
    run.out.buffer("received", received);
    void *in_place = run.rank == root ? MPI_IN_PLACE : received.data();
    CALL(call(all, parts.counts.data(), parts.displacements.data(), MPI_INT, in_place, run.rank + 1,
              MPI_INT, root, MPI_COMM_WORLD));
    run.out.buffer("in place", received);
}
COLLECTIVE(Scatterv, scatterv)

template <typename Call> void allgather_calls(Run &run, const Call &call) {
    const auto sent = sequence(2, 10 * run.rank);
    Buffer<int> all(2 * run.size);
    CALL(call(sent, 2, MPI_INT, all, 2, MPI_INT, MPI_COMM_WORLD));
    run.out.buffer("all", all);
    all[2 * run.rank] = 7;
    CALL(call(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 2, MPI_INT, MPI_COMM_WORLD));
    run.out.buffer("in place", all);
}
COLLECTIVE(Allgather, allgather)

template <typename Call> void allgatherv_calls(Run &run, const Call &call) {
    const Parts parts(run.size);
    const auto sent = sequence(run.rank + 1, 10 * run.rank);
    Buffer<int> all(parts.extent);
    CALL(call(sent, run.rank + 1, MPI_INT, all, parts.counts.data(), parts.displacements.data(),
              MPI_INT, MPI_COMM_WORLD));
    run.out.buffer("all", all);
    all[parts.displacements[run.rank]] = 7;
    CALL(call(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, parts.counts.data(),
              parts.displacements.data(), MPI_INT, MPI_COMM_WORLD));
    run.out.buffer("in place", all);
}
COLLECTIVE(Allgatherv, allgatherv)

template <typename Call> void alltoall_calls(Run &run, const Call &call) {
    const auto sent = sequence(2 * run.size, 100 * run.rank);
    Buffer<int> received(2 * run.size);
    CALL(call(sent, 2, MPI_INT, received, 2, MPI_INT, MPI_COMM_WORLD));
    run.out.buffer("received", received);
    CALL(call(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, received, 2, MPI_INT, MPI_COMM_WORLD));
    run.out.buffer("in place", received);
}
COLLECTIVE(Alltoall, alltoall)

// Rank i sends i + j elements to rank j.
struct Exchanges {
    explicit Exchanges(const Run &run) {
        Displacement at = 1;
        for (int i = 0; i < run.size; ++i) {
            counts.push_back(run.rank + i);
            displacements.push_back(at);
            byte_displacements.push_back(at * static_cast<Displacement>(sizeof(int)));
            at += run.rank + i + 2;
        }
        types.assign(run.size, MPI_INT);
        extent = static_cast<size_t>(at);
    }
    std::vector<Count> counts;
    std::vector<Displacement> displacements;
    std::vector<ByteDisplacement> byte_displacements;
    std::vector<MPI_Datatype> types;
    size_t extent;
};

template <typename Call> void alltoallv_calls(Run &run, const Call &call) {
    const Exchanges parts(run);
    const auto sent = sequence(static_cast<int>(parts.extent), 100 * run.rank);
    Buffer<int> received(parts.extent);
    CALL(call(sent, parts.counts.data(), parts.displacements.data(), MPI_INT, received,
              parts.counts.data(), parts.displacements.data(), MPI_INT, MPI_COMM_WORLD));
    run.out.buffer("received", received);
    CALL(call(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, received, parts.counts.data(),
              parts.displacements.data(), MPI_INT, MPI_COMM_WORLD));
    run.out.buffer("in place", received);
}
COLLECTIVE(Alltoallv, alltoallv)

template <typename Call> void alltoallw_calls(Run &run, const Call &call) {
    const Exchanges parts(run);
    const auto sent = sequence(static_cast<int>(parts.extent), 100 * run.rank);
    Buffer<int> received(parts.extent);
    CALL(call(sent, parts.counts.data(), parts.byte_displacements.data(), parts.types.data(),
              received, parts.counts.data(), parts.byte_displacements.data(), parts.types.data(),
              MPI_COMM_WORLD));
    run.out.buffer("received", received);
    CALL(call(MPI_IN_PLACE, nullptr, nullptr, nullptr, received, parts.counts.data(),
              parts.byte_displacements.data(), parts.types.data(), MPI_COMM_WORLD));
    run.out.buffer("in place", received);
}
COLLECTIVE(Alltoallw, alltoallw)

template <typename Call> void reduce_calls(Run &run, const Call &call) {
    const auto sent = sequence(3, 10 * run.rank);
    auto result = sequence(3, -5);
    CALL(call(sent, result, 3, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD));
    run.out.buffer("result", result);
    const void *in_place = run.rank == 1 ? MPI_IN_PLACE : sent.data();
    CALL(call(in_place, result, 3, MPI_INT, MPI_MAX, 1, MPI_COMM_WORLD));
    run.out.buffer("in place", result);
}
COLLECTIVE(Reduce, reduce)

struct ValueAndIndex {
    double value;
    int index;
};

template <typename Call> void allreduce_calls(Run &run, const Call &call) {
    const auto sent = sequence(3, 10 * run.rank);
    auto result = sequence(3, -5);
    CALL(call(sent, result, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    run.out.buffer("result", result);
    CALL(call(MPI_IN_PLACE, result, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    run.out.buffer("in place", result);
    // The gap behind the index stays as it is.
    Buffer<ValueAndIndex> places(2);
    for (int i = 0; i < 2; ++i) {
        places[i].value = i == 0 ? run.rank : -run.rank;
        places[i].index = run.rank;
    }
    Buffer<ValueAndIndex> smallest(2);
    CALL(call(places, smallest, 2, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD));
    run.out.value("smallest", smallest[0].index);
    run.out.value("smallest", smallest[1].value);
    CALL(call(nullptr, nullptr, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}
COLLECTIVE(Allreduce, allreduce)

template <typename Call> void reduce_scatter_calls(Run &run, const Call &call) {
    const Parts parts(run.size);
    const int count = run.size * (run.size + 1) / 2;
    const auto sent = sequence(count, 10 * run.rank);
    Buffer<int> result(count);
    CALL(call(sent, result, parts.counts.data(), MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    run.out.buffer("result", result);
    auto in_place = sequence(count, run.rank);
    CALL(call(MPI_IN_PLACE, in_place, parts.counts.data(), MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    run.out.values("in place", in_place.data(), run.rank + 1);
}
COLLECTIVE(Reduce_scatter, reduce_scatter)

template <typename Call> void reduce_scatter_block_calls(Run &run, const Call &call) {
    const auto sent = sequence(2 * run.size, 10 * run.rank);
    Buffer<int> result(2);
    CALL(call(sent, result, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    run.out.buffer("result", result);
    auto in_place = sequence(2 * run.size, run.rank);
    CALL(call(MPI_IN_PLACE, in_place, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    run.out.values("in place", in_place.data(), 2);
}
COLLECTIVE(Reduce_scatter_block, reduce_scatter_block)

template <typename Call> void scan_calls(Run &run, const Call &call) {
    const auto sent = sequence(3, 10 * run.rank);
    Buffer<int> result(3);
    CALL(call(sent, result, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    run.out.buffer("result", result);
    CALL(call(MPI_IN_PLACE, result, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    run.out.buffer("in place", result);
}
COLLECTIVE(Scan, scan)

template <typename Call> void exscan_calls(Run &run, const Call &call) {
    const auto sent = sequence(3, 10 * run.rank);
    auto result = sequence(3, 4);
    CALL(call(sent, result, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    run.out.buffer("result", result);
    CALL(call(MPI_IN_PLACE, result, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    run.out.buffer("in place", result);
}
COLLECTIVE(Exscan, exscan)

void sum_of_products(void *in, void *inout, int *length, MPI_Datatype *) {
    for (int i = 0; i < *length; ++i) {
        static_cast<int *>(inout)[i] += 3 * static_cast<int *>(in)[i];
    }
}

SCENARIO(own_operator, SIZED(MPI_Allreduce), MPI_Op_create, MPI_Op_free) {
    MPI_Op op = MPI_OP_NULL;
    CALL(MPI_Op_create(sum_of_products, 0, &op));
    run.out.choice("op", op);
    const auto sent = sequence(3, 10 * run.rank);
    Buffer<int> result(3);
    CALL(SIZED(MPI_Allreduce)(sent, result, 3, MPI_INT, op, MPI_COMM_WORLD));
    run.out.buffer("result", result);
    CALL(MPI_Op_free(&op));
    run.out.value("null", op == MPI_OP_NULL);
}

#ifndef CD_LARGE_COUNTS
template <typename Call> void barrier_calls(Run &run, const Call &call) {
    CALL(call(MPI_COMM_WORLD));
    CALL(call(MPI_COMM_SELF));
}
COLLECTIVE(Barrier, barrier)
#endif

// Several under way at once, completed in another order.
SCENARIO(several_at_once, SIZED(MPI_Iallreduce), SIZED(MPI_Ibcast), SIZED(MPI_Iallgather)) {
    const auto sent = sequence(2, 10 * run.rank);
    Buffer<int> sum(2);
    auto told = sequence(3, run.rank);
    Buffer<int> all(2 * run.size);
    MPI_Request requests[3];
    CALL(SIZED(MPI_Iallreduce)(sent, sum, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]));
    CALL(SIZED(MPI_Ibcast)(told, 3, MPI_INT, 0, MPI_COMM_WORLD, &requests[1]));
    CALL(SIZED(MPI_Iallgather)(sent, 2, MPI_INT, all, 2, MPI_INT, MPI_COMM_WORLD, &requests[2]));
    CALL(MPI_Wait(&requests[2], MPI_STATUS_IGNORE));
    run.out.buffer("all", all);
    CALL(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    run.out.buffer("sum", sum);
    run.out.buffer("told", told);
}

} // namespace

} // namespace collectives
