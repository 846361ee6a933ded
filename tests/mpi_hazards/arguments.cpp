// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Arguments that MPI does not look at, so that a program may give anything; and arguments that are
// wrong, which it is told.
#include "hazard.h"

#include <cstdio>
#include <functional>
#include <vector>

namespace arguments {

namespace {

// Never the same.
int anything() {
    static int last = 1000;
    return ++last;
}

MPI_Datatype any_type() { return anything() % 2 == 0 ? MPI_CHAR : MPI_DOUBLE; }

constexpr int root = 1;
int nowhere = 0;

void gather(const Numbers &mine) {
    Numbers all(world_rank() == root ? 2 * eager : 0);
    const int counts[] = {eager, eager};
    const int displacements[] = {0, eager};
    MPI_Request request = MPI_REQUEST_NULL;
    if (world_rank() == root) {
        MPI_Gather(mine.data(), eager, MPI_INT, all.data(), eager, MPI_INT, root, MPI_COMM_WORLD);
        MPI_Gatherv(mine.data(), eager, MPI_INT, all.data(), counts, displacements, MPI_INT, root,
                    MPI_COMM_WORLD);
        MPI_Igather(mine.data(), eager, MPI_INT, all.data(), eager, MPI_INT, root, MPI_COMM_WORLD,
                    &request);
    } else {
        MPI_Gather(mine.data(), eager, MPI_INT, &nowhere, anything(), any_type(), root,
                   MPI_COMM_WORLD);
        MPI_Gatherv(mine.data(), eager, MPI_INT, &nowhere, nullptr, nullptr, any_type(), root,
                    MPI_COMM_WORLD);
        MPI_Igather(mine.data(), eager, MPI_INT, &nowhere, anything(), any_type(), root,
                    MPI_COMM_WORLD, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void scatter(Numbers &mine) {
    Numbers all = numbers(3, 2 * eager);
    const int counts[] = {eager, eager};
    const int displacements[] = {0, eager};
    if (world_rank() == root) {
        MPI_Scatter(all.data(), eager, MPI_INT, mine.data(), eager, MPI_INT, root, MPI_COMM_WORLD);
        MPI_Scatterv(all.data(), counts, displacements, MPI_INT, mine.data(), eager, MPI_INT, root,
                     MPI_COMM_WORLD);
    } else {
        MPI_Scatter(&nowhere, anything(), any_type(), mine.data(), eager, MPI_INT, root,
                    MPI_COMM_WORLD);
        MPI_Scatterv(&nowhere, nullptr, nullptr, any_type(), mine.data(), eager, MPI_INT, root,
                     MPI_COMM_WORLD);
    }
}

void in_place() {
    Numbers all = numbers(world_rank(), 2 * eager);
    MPI_Allgather(MPI_IN_PLACE, anything(), any_type(), all.data(), eager, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(MPI_IN_PLACE, anything(), any_type(), all.data(), eager, MPI_INT, MPI_COMM_WORLD);
    if (world_rank() == 0) { // the root of these
        MPI_Gather(MPI_IN_PLACE, anything(), any_type(), all.data(), eager, MPI_INT, 0,
                   MPI_COMM_WORLD);
        MPI_Scatter(all.data(), eager, MPI_INT, MPI_IN_PLACE, anything(), any_type(), 0,
                    MPI_COMM_WORLD);
    } else {
        MPI_Gather(all.data(), eager, MPI_INT, nullptr, 0, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Scatter(nullptr, 0, MPI_INT, all.data(), eager, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

} // namespace

HAZARD(arguments_that_do_not_matter) {
    Numbers mine = numbers(world_rank(), eager);
    const auto communicate = [&] {
        gather(mine);
        scatter(mine);
        in_place();
    };
    if (world_rank() == root) {
        communicate();
        return;
    }
    Domain domain;
    domain.keep(mine);
    communicate();
    const Numbers first = mine;
    domain.restore();
    communicate();
    CHECK(mine == first);
}

// Of a group of three, only its leader knows the way to the others.
HAZARD(leader_of_a_group_tells_for_all) {
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank() == 0 ? 0 : 1, world_rank(), &half);
    const auto connect = [&] {
        const bool leads = world_rank() < 2;
        MPI_Comm between = MPI_COMM_NULL;
        MPI_Intercomm_create(half, 0, leads ? MPI_COMM_WORLD : half,
                             leads ? 1 - world_rank() : anything(), 1, &between);
        int sum = 0;
        int mine = world_rank();
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, between);
        CHECK(sum == (world_rank() == 0 ? 3 : 0));
        MPI_Comm_free(&between);
    };
    if (world_rank() != 2) {
        connect();
    } else {
        Numbers state(eager);
        Domain domain;
        domain.keep(state);
        connect();
        domain.restore();
        connect();
    }
    MPI_Comm_free(&half);
}

namespace {

MPI_Status status;

// Where a null pointer is no way to ignore a status.
std::vector<std::function<int(Numbers &)>> calls_without_a_status() {
    static MPI_Request request;
    request = MPI_REQUEST_NULL;
    static int flag = 0;
    static int index = 0;
    const MPI_Comm world = MPI_COMM_WORLD;
    MPI_Status *const none = nullptr;
    return {
        [=](Numbers &n) { return MPI_Recv(n.data(), 1, MPI_INT, 1, 1, world, none); },
        [=](Numbers &n) {
            return MPI_Sendrecv(n.data(), 1, MPI_INT, 1, 1, n.data() + 1, 1, MPI_INT, 1, 1, world,
                                none);
        },
        [=](Numbers &) { return MPI_Probe(1, 1, world, none); },
        [=](Numbers &) { return MPI_Iprobe(1, 1, world, &flag, none); },
        [=](Numbers &) { return MPI_Wait(&request, none); },
        [=](Numbers &) { return MPI_Test(&request, &flag, none); },
        [=](Numbers &) { return MPI_Waitany(1, &request, &index, none); },
        [=](Numbers &) { return MPI_Testany(1, &request, &index, &flag, none); },
        [=](Numbers &) { return MPI_Waitall(1, &request, none); },
        [=](Numbers &) { return MPI_Testall(1, &request, &flag, none); },
        [=](Numbers &) { return MPI_Waitsome(1, &request, &flag, &index, none); },
        [=](Numbers &) { return MPI_Testsome(1, &request, &flag, &index, none); },
        [=](Numbers &) { return MPI_Request_get_status(request, &flag, none); },
    };
}

// Calls that MPI refuses, at one rank alone.
std::vector<std::function<int(Numbers &)>> wrong_calls() {
    const MPI_Comm world = MPI_COMM_WORLD;
    return {
        [=](Numbers &n) { return MPI_Send(n.data(), -1, MPI_INT, 1, 1, world); },
        [=](Numbers &n) { return MPI_Send(n.data(), 1, MPI_DATATYPE_NULL, 1, 1, world); },
        [=](Numbers &n) { return MPI_Send(n.data(), 1, MPI_INT, 99, 1, world); },
        [=](Numbers &n) { return MPI_Send(n.data(), 1, MPI_INT, 1, -5, world); },
        [=](Numbers &n) { return MPI_Recv(n.data(), -1, MPI_INT, 1, 1, world, &status); },
        [=](Numbers &n) { return MPI_Recv(n.data(), 1, MPI_DATATYPE_NULL, 1, 1, world, &status); },
        [=](Numbers &n) {
            MPI_Request request = MPI_REQUEST_NULL;
            return MPI_Isend(n.data(), -1, MPI_INT, 1, 1, world, &request);
        },
        [=](Numbers &n) {
            MPI_Request request = MPI_REQUEST_NULL;
            return MPI_Isend(n.data(), 1, MPI_DATATYPE_NULL, 1, 1, world, &request);
        },
        [=](Numbers &n) { return MPI_Isend(n.data(), 1, MPI_INT, 1, 1, world, nullptr); },
        [=](Numbers &n) {
            MPI_Request request = MPI_REQUEST_NULL;
            return MPI_Irecv(n.data(), -1, MPI_INT, 1, 1, world, &request);
        },
        [=](Numbers &n) { return MPI_Irecv(n.data(), 1, MPI_INT, 1, 1, world, nullptr); },
        [=](Numbers &n) { return MPI_Recv_init(n.data(), 1, MPI_INT, 1, 1, world, nullptr); },
        [](Numbers &) { return MPI_Waitall(-1, nullptr, MPI_STATUSES_IGNORE); },
        [](Numbers &) { return MPI_Waitall(1, nullptr, MPI_STATUSES_IGNORE); },
        [](Numbers &) { return MPI_Wait(nullptr, MPI_STATUS_IGNORE); },
        [](Numbers &) {
            MPI_Request request = MPI_REQUEST_NULL;
            return MPI_Test(&request, nullptr, MPI_STATUS_IGNORE);
        },
        [](Numbers &) {
            MPI_Request request = MPI_REQUEST_NULL;
            return MPI_Waitany(1, &request, nullptr, MPI_STATUS_IGNORE);
        },
        [](Numbers &) { return MPI_Startall(-1, nullptr); },
        [](Numbers &) { return MPI_Request_free(nullptr); },
        [=](Numbers &n) { return MPI_Bcast(n.data(), -1, MPI_INT, 0, world); },
        [=](Numbers &n) { return MPI_Bcast(n.data(), 1, MPI_INT, 99, world); },
        [=](Numbers &n) {
            return MPI_Allreduce(MPI_IN_PLACE, n.data(), 1, MPI_INT, MPI_OP_NULL, world);
        },
        [](Numbers &n) { return MPI_Send(n.data(), 1, MPI_INT, 1, 1, MPI_COMM_NULL); },
        [](Numbers &n) { return MPI_Bcast(n.data(), 1, MPI_INT, 0, MPI_COMM_NULL); },
        [=](Numbers &) { return MPI_Comm_dup(world, nullptr); },
        [](Numbers &) {
            MPI_Datatype null = MPI_DATATYPE_NULL;
            return MPI_Type_free(&null);
        },
        [](Numbers &) {
            MPI_Datatype made = MPI_DATATYPE_NULL;
            return MPI_Type_contiguous(-1, MPI_INT, &made);
        },
        [](Numbers &) {
            MPI_Datatype made = MPI_DATATYPE_NULL;
            return MPI_Type_indexed(-1, nullptr, nullptr, MPI_INT, &made);
        },
        [](Numbers &) {
            MPI_Datatype made = MPI_DATATYPE_NULL;
            return MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &made);
        },
        [](Numbers &) {
            MPI_Group group = MPI_GROUP_NULL;
            return MPI_Group_free(&group);
        },
    };
}

std::vector<int> make_wrong_calls(Numbers &buffer) {
    std::vector<int> classes;
    auto calls = wrong_calls();
    if (MPI_STATUS_IGNORE != nullptr) {
        const auto more = calls_without_a_status();
        calls.insert(calls.end(), more.begin(), more.end());
    }
    for (const auto &call : calls) {
        int error_class = MPI_SUCCESS;
        MPI_Error_class(call(buffer), &error_class);
        classes.push_back(error_class);
    }
    return classes;
}

} // namespace

// MPI says the same of them whether a domain logs or not, and a replay says it once more.
HAZARD(wrong_arguments_are_told) {
    if (world_rank() == 1) {
        return;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    Numbers buffer = numbers(1, eager);
    const std::vector<int> outside = make_wrong_calls(buffer);
    Domain domain;
    domain.keep(buffer);
    const std::vector<int> inside = make_wrong_calls(buffer);
    for (size_t i = 0; i < outside.size(); ++i) {
        CHECK(outside[i] != MPI_SUCCESS);
        if (inside[i] != outside[i]) {
            std::fprintf(stderr, "call %zu: %d outside of the domain, %d in it\n", i, outside[i],
                         inside[i]);
        }
    }
    CHECK(inside == outside);
    domain.restore();
    CHECK(make_wrong_calls(buffer) == outside);
    CHECK(buffer == numbers(1, eager));
}

} // namespace arguments
