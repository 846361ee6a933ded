// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "steps.h"

#include <cstddef>

void do_collective(Part &part) {
    const int kind = part.common.below(14);
    const int root = part.common.below(part.size);
    const int count = 1 + part.common.below(part.common.percent(90) ? 20 : 2000);
    const int total = count * part.size;
    std::vector<int> out(static_cast<size_t>(total));
    fill(out.data(), total, part.common.next(), part.state);
    std::vector<int> in(static_cast<size_t>(total), -1);
    std::vector<int> counts(static_cast<size_t>(part.size));
    std::vector<int> places(static_cast<size_t>(part.size));
    for (int i = 0; i < part.size; ++i) {
        counts[static_cast<size_t>(i)] = (i + root) % 2 != 0 ? count : count / 2;
        places[static_cast<size_t>(i)] = i * count;
    }
    const int own_count = counts[static_cast<size_t>(part.rank)];
    const MPI_Comm comm = part.comm;
    switch (kind) {
    case 0:
        MPI_Barrier(comm);
        break;
    case 1:
        if (part.rank == root) {
            in = out;
        }
        MPI_Bcast(in.data(), total, MPI_INT, root, comm);
        break;
    case 2:
        MPI_Gather(out.data(), count, MPI_INT, in.data(), count, MPI_INT, root, comm);
        break;
    case 3:
        MPI_Gatherv(out.data(), own_count, MPI_INT, in.data(), counts.data(), places.data(),
                    MPI_INT, root, comm);
        break;
    case 4:
        MPI_Scatter(out.data(), count, MPI_INT, in.data(), count, MPI_INT, root, comm);
        break;
    case 5:
        MPI_Scatterv(out.data(), counts.data(), places.data(), MPI_INT, in.data(), own_count,
                     MPI_INT, root, comm);
        break;
    case 6:
        MPI_Allgather(out.data(), count, MPI_INT, in.data(), count, MPI_INT, comm);
        break;
    case 7:
        MPI_Allgatherv(out.data(), own_count, MPI_INT, in.data(), counts.data(), places.data(),
                       MPI_INT, comm);
        break;
    case 8:
        MPI_Alltoall(out.data(), count, MPI_INT, in.data(), count, MPI_INT, comm);
        break;
    case 9:
        MPI_Reduce(out.data(), in.data(), total, MPI_INT, MPI_BXOR, root, comm);
        break;
    case 10:
        in = out;
        MPI_Allreduce(MPI_IN_PLACE, in.data(), total, MPI_INT, MPI_BXOR, comm);
        break;
    case 11:
        MPI_Scan(out.data(), in.data(), total, MPI_INT, MPI_BXOR, comm);
        break;
    case 12:
        MPI_Exscan(out.data(), in.data(), total, MPI_INT, MPI_BXOR, comm);
        break;
    default:
        MPI_Reduce_scatter(out.data(), in.data(), counts.data(), MPI_INT, MPI_BXOR, comm);
        break;
    }
    part.received.in_any_order = hash_of(in.data(), total);
}

void make_comm(Part &part) {
    MPI_Comm &made = part.state.comms[part.step.comm];
    const MPI_Comm from = part.state.comms[0];
    int rank = 0;
    MPI_Comm_rank(from, &rank);
    switch (part.common.below(3)) {
    case 0:
        MPI_Comm_dup(from, &made);
        break;
    case 1: {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Comm_idup(from, &made, &request);
        part.pause();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    }
    default: {
        const int colour = (rank + part.common.below(2)) % 2;
        MPI_Comm_split(from, colour, part.common.percent(50) ? rank : -rank, &made);
        break;
    }
    }
    int new_rank = -1;
    MPI_Comm_rank(made, &new_rank);
    part.received.in_any_order = static_cast<unsigned>(new_rank);
}
