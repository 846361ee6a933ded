// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Arguments that MPI does not look at, so that a program may give anything; and arguments that are
// wrong, which it is told.
#include "hazard.h"

#include <cstdio>
#include <functional>
#include <string>
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
        [=](Numbers &n) { return MPI_Send(n.data(), 1, MPI_INT, 1, -5, world); },
        [=](Numbers &n) { return MPI_Recv(n.data(), -1, MPI_INT, 1, 1, world, &status); },
        [=](Numbers &n) {
            MPI_Request request = MPI_REQUEST_NULL;
            return MPI_Isend(n.data(), -1, MPI_INT, 1, 1, world, &request);
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
        [](Numbers &) {
            MPI_Request request = MPI_REQUEST_NULL;
            return MPI_Request_free(&request);
        },
        [=](Numbers &n) { return MPI_Bcast(n.data(), -1, MPI_INT, 0, world); },
        [=](Numbers &n) {
            return MPI_Allreduce(MPI_IN_PLACE, n.data(), 1, MPI_INT, MPI_OP_NULL, world);
        },
        [](Numbers &n) { return MPI_Send(n.data(), 1, MPI_INT, 1, 1, MPI_COMM_NULL); },
        [](Numbers &n) { return MPI_Bcast(n.data(), 1, MPI_INT, 0, MPI_COMM_NULL); },
        [=](Numbers &) { return MPI_Comm_dup(world, nullptr); },
        [](Numbers &) {
            return MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, nullptr,
                                          nullptr);
        },
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
            MPI_Group group = MPI_GROUP_NULL;
            return MPI_Group_free(&group);
        },
    };
}

template <auto free_it, typename Handle> std::function<int(Numbers &)> frees(Handle handle) {
    return [handle](Numbers &) {
        Handle copy = handle;
        const int result = free_it(&copy);
        CHECK(copy == handle);
        return result;
    };
}

// What nobody can free, since it is MPI's own or none.
std::vector<std::function<int(Numbers &)>> wrong_frees() {
    static int of_communicators = MPI_KEYVAL_INVALID;
    if (of_communicators == MPI_KEYVAL_INVALID) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &of_communicators,
                               nullptr);
    }
    constexpr int none = 12345;
    return {
        frees<MPI_Op_free>(MPI_SUM),
        frees<MPI_Op_free>(MPI_NO_OP),
        frees<MPI_Op_free>(MPI_OP_NULL),
        frees<MPI_Type_free>(MPI_INT),
        frees<MPI_Type_free>(MPI_2INT),
        frees<MPI_Comm_free>(MPI_COMM_WORLD),
        frees<MPI_Comm_free>(MPI_COMM_NULL),
        frees<MPI_Comm_free_keyval, int>(MPI_TAG_UB),
        frees<MPI_Comm_free_keyval, int>(MPI_KEYVAL_INVALID),
        frees<MPI_Comm_free_keyval, int>(none),
        frees<MPI_Type_free_keyval, int>(of_communicators),
        frees<MPI_Type_free_keyval, int>(none),
        frees<MPI_Win_free_keyval, int>(MPI_WIN_BASE),
        frees<MPI_Win_free_keyval, int>(none),
        frees<MPI_Info_free>(MPI_INFO_NULL),
        frees<MPI_Errhandler_free>(MPI_ERRHANDLER_NULL),
    };
}

// What the logger asks MPI about before the call is made.
std::vector<std::function<int(Numbers &)>> calls_with_what_is_none() {
    static int key = MPI_KEYVAL_INVALID;
    if (key == MPI_KEYVAL_INVALID) {
        MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, nullptr);
    }
    const MPI_Comm self = MPI_COMM_SELF;
    return {
        [](Numbers &) {
            const std::string too_long(MPI_MAX_INFO_KEY + 1, 'k');
            MPI_Info info = MPI_INFO_NULL;
            MPI_Info_create(&info);
            const int result = MPI_Info_set(info, too_long.c_str(), "value");
            MPI_Info_free(&info);
            return result;
        },
        [=](Numbers &) { return MPI_Comm_set_attr(self, key, nullptr); },
        [](Numbers &) { return MPI_Comm_set_name(MPI_COMM_NULL, "none"); },
        [=](Numbers &) { return MPI_Comm_set_attr(self, MPI_KEYVAL_INVALID, nullptr); },
        [=](Numbers &) { return MPI_Comm_delete_attr(self, MPI_KEYVAL_INVALID); },
        [](Numbers &) { return MPI_Type_set_attr(MPI_INT, MPI_KEYVAL_INVALID, nullptr); },
        [](Numbers &) { return MPI_Type_set_attr(MPI_DATATYPE_NULL, key, nullptr); },
        [](Numbers &n) { return MPI_Put(n.data(), 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_WIN_NULL); },
        [](Numbers &) { return MPI_Win_fence(0, MPI_WIN_NULL); },
#ifdef MPICH // which looks at handles without following them
        frees<MPI_Comm_disconnect>(static_cast<MPI_Comm>(MPI_INT)),
        frees<MPI_Comm_free>(static_cast<MPI_Comm>(MPI_INT)),
        frees<MPI_Win_free>(static_cast<MPI_Win>(MPI_INT)),
        frees<MPI_Type_free>(static_cast<MPI_Datatype>(MPI_COMM_WORLD)),
        frees<MPI_Group_free>(static_cast<MPI_Group>(MPI_INT)),
        frees<MPI_Info_free>(static_cast<MPI_Info>(MPI_INT)),
        [](Numbers &) { return MPI_Win_fence(0, static_cast<MPI_Win>(MPI_INT)); },
        [](Numbers &n) {
            const auto comm = static_cast<MPI_Comm>(MPI_INT);
            return MPI_Allgather(n.data(), 1, MPI_INT, n.data() + 1, 1, MPI_INT, comm);
        },
        [=](Numbers &n) {
            return MPI_Bcast(n.data(), 1, static_cast<MPI_Datatype>(MPI_COMM_WORLD), 0, self);
        },
#endif
    };
}

// make: makes one. All copies of a handle are freed with it.
template <auto free_it, typename Handle, typename Make>
std::function<int(Numbers &)> frees_twice(const Make &make) {
    return [make](Numbers &) {
        Handle handle = make();
        Handle copy = handle;
        CHECK(free_it(&handle) == MPI_SUCCESS);
        return free_it(&copy);
    };
}

// Of objects of which each has one handle.
std::vector<std::function<int(Numbers &)>> second_frees() {
    const auto comm = [] {
        MPI_Comm made = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_SELF, &made);
        return made;
    };
    const auto operation = [] {
        MPI_Op made = MPI_OP_NULL;
        MPI_Op_create([](void *, void *, int *, MPI_Datatype *) {}, 1, &made);
        return made;
    };
    const auto info = [] {
        MPI_Info made = MPI_INFO_NULL;
        MPI_Info_create(&made);
        return made;
    };
    const auto key = [] {
        int made = MPI_KEYVAL_INVALID;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &made, nullptr);
        return made;
    };
    return {frees_twice<MPI_Comm_free, MPI_Comm>(comm), frees_twice<MPI_Info_free, MPI_Info>(info),
            frees_twice<MPI_Comm_free_keyval, int>(key),
            frees_twice<MPI_Op_free, MPI_Op>(operation)};
}

int errors_told = 0;
void count_error(MPI_Comm *, int *, ...) { ++errors_told; }

struct Told {
    int error_class = MPI_SUCCESS;
    int times = 0;
    bool operator==(const Told &) const = default;
};

std::vector<Told> make_wrong_calls(Numbers &buffer) {
    std::vector<Told> all;
    auto calls = wrong_calls();
    const auto add = [&calls](const auto &more) {
        calls.insert(calls.end(), more.begin(), more.end());
    };
    add(wrong_frees());
    add(calls_with_what_is_none());
    if (MPI_STATUS_IGNORE != nullptr) {
        add(calls_without_a_status());
    }
    for (const auto &call : calls) {
        Told told;
        errors_told = 0;
        MPI_Error_class(call(buffer), &told.error_class);
        told.times = errors_told;
        all.push_back(told);
    }
    return all;
}

void see_what_is_told() {
    MPI_Errhandler counts = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(count_error, &counts);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, counts);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, counts);
    Numbers buffer = numbers(1, eager);
    const std::vector<Told> outside = make_wrong_calls(buffer);
    Domain domain;
    domain.keep(buffer);
    const std::vector<Told> inside = make_wrong_calls(buffer);
    for (size_t i = 0; i < outside.size(); ++i) {
        CHECK(outside[i].error_class != MPI_SUCCESS);
        if (inside[i] != outside[i]) {
            std::fprintf(stderr,
                         "call %zu: %d outside of the domain, told %d times; %d in it, told %d "
                         "times\n",
                         i, outside[i].error_class, outside[i].times, inside[i].error_class,
                         inside[i].times);
        }
    }
    CHECK(inside == outside);
    domain.restore();
    CHECK(make_wrong_calls(buffer) == outside);
    CHECK(buffer == numbers(1, eager));
}

} // namespace

// The object lives on for the log, so that MPI would free it twice.
HAZARD(second_free_is_an_error) {
    if (world_rank() == 1) {
        return;
    }
    MPI_Errhandler counts = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(count_error, &counts);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, counts);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, counts);
    Numbers buffer = numbers(1, eager);
    Domain domain;
    domain.keep(buffer);
    const auto free_twice = [&] {
        for (const auto &call : second_frees()) {
            errors_told = 0;
            CHECK(call(buffer) == MPI_ERR_ARG);
            CHECK(errors_told == 1);
        }
    };
    free_twice();
    for (int i = 0; i < 2; ++i) {
        domain.restore();
        free_twice();
    }
    free_twice();
    domain.advance(); // which frees each once
    free_twice();
}

// MPI says the same of them whether a domain logs or not, as often, and a replay says it once more.
HAZARD(wrong_arguments_are_told) {
    if (world_rank() == 0) {
        see_what_is_told();
    }
}

} // namespace arguments
