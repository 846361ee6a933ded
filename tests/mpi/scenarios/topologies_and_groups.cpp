// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Collective operations with the neighbours in a topology, and between two groups.

#include "harness/collective.h"

namespace topologies_and_groups {

namespace {

using namespace cd::scenarios;

// Each rank receives from the previous two ranks, and sends to the next two; with weights of its
// own.
class Ring {
public:
    explicit Ring(Run &run) {
        const int from[2] = {run.previous(), (run.rank + 2 * run.size - 2) % run.size};
        const int to[2] = {run.next(), (run.rank + 2) % run.size};
        CALL(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, MPI_UNWEIGHTED, 2, to,
                                            MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    }
    void free(Run &run) { CALL(MPI_Comm_free(&comm)); }

    MPI_Comm comm = MPI_COMM_NULL;
};

template <typename Call> void allgather_calls(Run &run, const Call &call) {
    Ring ring(run);
    const auto sent = sequence(2, 10 * run.rank);
    Buffer<int> received(5);
    CALL(call(sent, 2, MPI_INT, received, 2, MPI_INT, ring.comm));
    run.out.buffer("received", received);
    ring.free(run);
}
COLLECTIVE_OF(neighbor_allgather, allgather_calls, SIZED(MPI_Neighbor_allgather),
              SIZED(MPI_Ineighbor_allgather), CD_PERSISTENT(Neighbor_allgather))

template <typename Call> void allgatherv_calls(Run &run, const Call &call) {
    Ring ring(run);
    const auto sent = sequence(2, 10 * run.rank);
    Buffer<int> received(9);
    const std::vector<Count> counts = {2, 2};
    const std::vector<Displacement> displacements = {6, 1};
    CALL(call(sent, 2, MPI_INT, received, counts.data(), displacements.data(), MPI_INT, ring.comm));
    run.out.buffer("received", received);
    ring.free(run);
}
COLLECTIVE_OF(neighbor_allgatherv, allgatherv_calls, SIZED(MPI_Neighbor_allgatherv),
              SIZED(MPI_Ineighbor_allgatherv), CD_PERSISTENT(Neighbor_allgatherv))

template <typename Call> void alltoall_calls(Run &run, const Call &call) {
    Ring ring(run);
    const auto sent = sequence(4, 10 * run.rank);
    Buffer<int> received(5);
    CALL(call(sent, 2, MPI_INT, received, 2, MPI_INT, ring.comm));
    run.out.buffer("received", received);
    ring.free(run);
}
COLLECTIVE_OF(neighbor_alltoall, alltoall_calls, SIZED(MPI_Neighbor_alltoall),
              SIZED(MPI_Ineighbor_alltoall), CD_PERSISTENT(Neighbor_alltoall))

template <typename Call> void alltoallv_calls(Run &run, const Call &call) {
    Ring ring(run);
    const auto sent = sequence(8, 10 * run.rank);
    Buffer<int> received(9);
    const std::vector<Count> counts = {1, 3};
    const std::vector<Displacement> from = {4, 0};
    const std::vector<Displacement> to = {7, 2};
    CALL(call(sent, counts.data(), from.data(), MPI_INT, received, counts.data(), to.data(),
              MPI_INT, ring.comm));
    run.out.buffer("received", received);
    ring.free(run);
}
COLLECTIVE_OF(neighbor_alltoallv, alltoallv_calls, SIZED(MPI_Neighbor_alltoallv),
              SIZED(MPI_Ineighbor_alltoallv), CD_PERSISTENT(Neighbor_alltoallv))

template <typename Call> void alltoallw_calls(Run &run, const Call &call) {
    Ring ring(run);
    const auto sent = sequence(8, 10 * run.rank);
    Buffer<int> received(9);
    const std::vector<Count> counts = {1, 3};
    const std::vector<MPI_Aint> from = {16, 0};
    const std::vector<MPI_Aint> to = {28, 8};
    const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    CALL(call(sent, counts.data(), from.data(), types, received, counts.data(), to.data(), types,
              ring.comm));
    run.out.buffer("received", received);
    ring.free(run);
}
COLLECTIVE_OF(neighbor_alltoallw, alltoallw_calls, SIZED(MPI_Neighbor_alltoallw),
              SIZED(MPI_Ineighbor_alltoallw), CD_PERSISTENT(Neighbor_alltoallw))

// At the ends of a line there is nobody.
SCENARIO(ends_of_a_line, SIZED(MPI_Neighbor_allgather), SIZED(MPI_Neighbor_alltoall)) {
    const int periods[1] = {0};
    MPI_Comm line = MPI_COMM_NULL;
    CALL(MPI_Cart_create(MPI_COMM_WORLD, 1, &run.size, periods, 0, &line));
    const auto sent = sequence(2, 10 * run.rank);
    auto received = sequence(2, -2);
    CALL(SIZED(MPI_Neighbor_allgather)(sent, 1, MPI_INT, received, 1, MPI_INT, line));
    run.out.buffer("gathered", received);
    CALL(SIZED(MPI_Neighbor_alltoall)(sent, 1, MPI_INT, received, 1, MPI_INT, line));
    run.out.buffer("exchanged", received);
    CALL(MPI_Comm_free(&line));
}

// Rank 0 is one group, all others the other.
class TwoGroups {
public:
    explicit TwoGroups(Run &run) {
        const bool low = run.rank == 0;
        CALL(MPI_Comm_split(MPI_COMM_WORLD, low ? 0 : 1, 0, &half));
        CALL(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? 1 : 0, 4, &inter));
        CALL(MPI_Comm_remote_size(inter, &remote_size));
        root = low ? MPI_ROOT : 0;
        other_root = low ? 0 : run.rank == 1 ? MPI_ROOT : MPI_PROC_NULL;
    }
    void free(Run &run) {
        CALL(MPI_Comm_free(&inter));
        CALL(MPI_Comm_free(&half));
    }

    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm inter = MPI_COMM_NULL;
    int remote_size = 0;
    int root = 0;       // if the one of the first group is it
    int other_root = 0; // if the first of the second group is it
};

SCENARIO(between_groups_rooted, SIZED(MPI_Bcast), SIZED(MPI_Gather), SIZED(MPI_Scatter),
         SIZED(MPI_Reduce)) {
    TwoGroups groups(run);
    auto buffer = sequence(3, 10 * run.rank);
    CALL(SIZED(MPI_Bcast)(buffer, 3, MPI_INT, groups.root, groups.inter));
    run.out.buffer("told", buffer);
    CALL(SIZED(MPI_Bcast)(buffer, 2, MPI_INT, groups.other_root, groups.inter));
    run.out.buffer("told back", buffer);
    const auto sent = sequence(2 * run.size, 100 * run.rank);
    Buffer<int> received(2 * run.size);
    CALL(SIZED(MPI_Gather)(sent, 2, MPI_INT, received, 2, MPI_INT, groups.root, groups.inter));
    run.out.buffer("gathered", received);
    CALL(SIZED(MPI_Scatter)(sent, 2, MPI_INT, received, 2, MPI_INT, groups.root, groups.inter));
    run.out.buffer("scattered", received);
    CALL(SIZED(MPI_Reduce)(sent, received, 2, MPI_INT, MPI_SUM, groups.root, groups.inter));
    run.out.buffer("reduced", received);
    groups.free(run);
}

SCENARIO(between_groups, SIZED(MPI_Allgather), SIZED(MPI_Allreduce), SIZED(MPI_Alltoall),
         SIZED(MPI_Allgatherv)) {
    TwoGroups groups(run);
    const auto sent = sequence(2 * run.size, 100 * run.rank);
    Buffer<int> received(2 * run.size);
    CALL(MPI_Barrier(groups.inter));
    CALL(SIZED(MPI_Allgather)(sent, 1, MPI_INT, received, 1, MPI_INT, groups.inter));
    run.out.buffer("gathered", received);
    CALL(SIZED(MPI_Alltoall)(sent, 2, MPI_INT, received, 2, MPI_INT, groups.inter));
    run.out.buffer("exchanged", received);
    CALL(SIZED(MPI_Allreduce)(sent, received, 2, MPI_INT, MPI_SUM, groups.inter));
    run.out.buffer("reduced", received);
    std::vector<Count> counts(groups.remote_size, 2);
    std::vector<Displacement> displacements;
    for (int i = 0; i < groups.remote_size; ++i) {
        displacements.push_back(2 * (groups.remote_size - 1 - i));
    }
    CALL(SIZED(MPI_Allgatherv)(sent, 2, MPI_INT, received, counts.data(), displacements.data(),
                               MPI_INT, groups.inter));
    run.out.buffer("gathered in reverse", received);
    MPI_Request request = MPI_REQUEST_NULL;
    CALL(SIZED(MPI_Iallgather)(sent, 2, MPI_INT, received, 2, MPI_INT, groups.inter, &request));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    run.out.buffer("gathered later", received);
    groups.free(run);
}

} // namespace

} // namespace topologies_and_groups
