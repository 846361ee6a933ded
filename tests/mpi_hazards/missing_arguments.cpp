// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Arguments that are missing: MPI says so, if it does.
#include "hazard.h"

#include <cstdio>
#include <functional>
#include <vector>

namespace missing_arguments {

namespace {

[[maybe_unused]] const int one = 1;
[[maybe_unused]] const int zero = 0;

int ended(int result, MPI_Request request) {
    if (result == MPI_SUCCESS) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return result;
}

// Of a communicator of this rank alone.
std::vector<std::function<int(MPI_Comm)>> wrong_calls(Numbers &n) {
    int *const from = n.data();
    [[maybe_unused]] int *const to = n.data() + 1;
    static MPI_Request request = MPI_REQUEST_NULL;
    return {
        [=](MPI_Comm c) { return MPI_Send(nullptr, 1, MPI_INT, 0, 1, c); },
        [=](MPI_Comm c) { return MPI_Ssend(nullptr, 1, MPI_INT, MPI_PROC_NULL, 1, c); },
        [=](MPI_Comm c) { return MPI_Bcast(nullptr, 1, MPI_INT, 0, c); },
        [=](MPI_Comm c) {
            return ended(MPI_Isend(nullptr, 1, MPI_INT, MPI_PROC_NULL, 1, c, &request), request);
        },
#ifdef MPICH // Open MPI writes where it is told
        [=](MPI_Comm c) { return MPI_Allreduce(from, nullptr, 1, MPI_INT, MPI_SUM, c); },
#else // MPICH reads there
        [=](MPI_Comm c) {
            return MPI_Gatherv(from, 1, MPI_INT, to, nullptr, &zero, MPI_INT, 0, c);
        },
        [=](MPI_Comm c) { return MPI_Gatherv(from, 1, MPI_INT, to, &one, nullptr, MPI_INT, 0, c); },
        [=](MPI_Comm c) {
            return MPI_Scatterv(from, nullptr, &zero, MPI_INT, to, 1, MPI_INT, 0, c);
        },
        [=](MPI_Comm c) {
            return MPI_Allgatherv(from, 1, MPI_INT, to, nullptr, nullptr, MPI_INT, c);
        },
        [=](MPI_Comm c) {
            return MPI_Alltoallv(from, nullptr, &zero, MPI_INT, to, nullptr, &zero, MPI_INT, c);
        },
        [=](MPI_Comm c) {
            return MPI_Alltoallw(from, &one, &zero, nullptr, to, &one, &zero, nullptr, c);
        },
        [=](MPI_Comm c) { return MPI_Reduce_scatter(from, to, nullptr, MPI_INT, MPI_SUM, c); },
        [=](MPI_Comm c) {
            return ended(
                MPI_Igatherv(from, 1, MPI_INT, to, nullptr, &zero, MPI_INT, 0, c, &request),
                request);
        },
        [=](MPI_Comm c) {
            return ended(
                MPI_Ialltoallw(from, &one, &zero, nullptr, to, &one, &zero, nullptr, c, &request),
                request);
        },
#endif
    };
}

Numbers classes_of(const std::vector<std::function<int(MPI_Comm)>> &calls, MPI_Comm comm) {
    Numbers classes;
    for (const auto &call : calls) {
        classes.push_back(MPI_SUCCESS);
        MPI_Error_class(call(comm), &classes.back());
    }
    return classes;
}

} // namespace

// Some are no errors to one of the MPIs, and are none in a domain then.
HAZARD(missing_arguments_reach_mpi) {
    if (world_rank() == 1) {
        return;
    }
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    Numbers buffer = numbers(1, eager);
    const auto calls = wrong_calls(buffer);
    const Numbers outside = classes_of(calls, own);
    {
        Domain domain;
        domain.keep(buffer);
        const Numbers inside = classes_of(calls, own);
        for (size_t i = 0; i < calls.size(); ++i) {
            if (inside[i] != outside[i]) {
                std::fprintf(stderr, "call %zu: %d outside of the domain, %d in it\n", i,
                             outside[i], inside[i]);
            }
        }
        CHECK(inside == outside);
        domain.restore();
        CHECK(classes_of(calls, own) == outside);
    }
    MPI_Comm_free(&own);
}

} // namespace missing_arguments
