// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Communicators, groups and topologies that are made and freed.

#include "harness/scenario.h"

namespace communicators {

namespace {

using namespace cd::scenarios;

// Notes the properties of a communicator, and whether it works.
void show(Run &run, MPI_Comm comm) {
    run.out.choice("communicator", comm);
    run.out.value("null", comm == MPI_COMM_NULL);
    if (comm == MPI_COMM_NULL) {
        return;
    }
    int seen[4] = {};
    CALL(MPI_Comm_rank(comm, &seen[0]));
    CALL(MPI_Comm_size(comm, &seen[1]));
    CALL(MPI_Comm_compare(comm, MPI_COMM_WORLD, &seen[2]));
    int is_inter = 0;
    CALL(MPI_Comm_test_inter(comm, &is_inter));
    seen[3] = is_inter;
    run.out.values("seen", seen, 4);
    int sum = 0;
    CALL(MPI_Allreduce(&run.rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    run.out.value("sum", sum);
}

void show_and_free(Run &run, MPI_Comm comm) {
    show(run, comm);
    if (comm != MPI_COMM_NULL) {
        CALL(MPI_Comm_free(&comm));
        run.out.value("freed", comm == MPI_COMM_NULL);
    }
}

void show_group(Run &run, MPI_Group group) {
    run.out.choice("group", group);
    int rank = -7;
    int size = -7;
    CALL(MPI_Group_rank(group, &rank));
    CALL(MPI_Group_size(group, &size));
    run.out.value("rank", rank);
    run.out.value("size", size);
}

void show_and_free_group(Run &run, MPI_Group group) {
    show_group(run, group);
    if (group != MPI_GROUP_EMPTY) { // which need not be freed
        CALL(MPI_Group_free(&group));
        run.out.value("freed", group == MPI_GROUP_NULL);
    }
}

SCENARIO(dup, MPI_Comm_dup, MPI_Comm_dup_with_info, MPI_Comm_idup, MPI_Comm_free) {
    MPI_Comm first = MPI_COMM_NULL;
    CALL(MPI_Comm_dup(MPI_COMM_WORLD, &first));
    MPI_Comm second = MPI_COMM_NULL;
    CALL(MPI_Comm_dup_with_info(first, MPI_INFO_NULL, &second));
    MPI_Comm third = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    CALL(MPI_Comm_idup(second, &third, &request));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    show_and_free(run, first);
    show_and_free(run, third);
    show_and_free(run, second);
}

#if CD_HAS_MPI_Comm_idup_with_info
SCENARIO(idup_with_info, MPI_Comm_idup_with_info) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    CALL(MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &made, &request));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    show_and_free(run, made);
}
#endif

SCENARIO(split, MPI_Comm_split, MPI_Comm_split_type) {
    MPI_Comm comm = MPI_COMM_NULL;
    CALL(MPI_Comm_split(MPI_COMM_WORLD, run.rank == 0 ? 0 : 1, -run.rank, &comm));
    show_and_free(run, comm);
    CALL(MPI_Comm_split(MPI_COMM_WORLD, run.rank == 1 ? MPI_UNDEFINED : 1, 0, &comm));
    show_and_free(run, comm);
    CALL(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
    show_and_free(run, comm);
}

SCENARIO(create_from_groups, MPI_Comm_group, MPI_Comm_create, MPI_Comm_create_group, MPI_Group_incl,
         MPI_Group_free) {
    MPI_Group world = MPI_GROUP_NULL;
    CALL(MPI_Comm_group(MPI_COMM_WORLD, &world));
    const int ranks[2] = {1, 0};
    MPI_Group two = MPI_GROUP_NULL;
    CALL(MPI_Group_incl(world, 2, ranks, &two));
    MPI_Comm comm = MPI_COMM_NULL;
    CALL(MPI_Comm_create(MPI_COMM_WORLD, two, &comm));
    show_and_free(run, comm);
    if (run.rank < 2) {
        comm = MPI_COMM_NULL;
        CALL(MPI_Comm_create_group(MPI_COMM_WORLD, two, 3, &comm));
        show_and_free(run, comm);
    }
    show_and_free_group(run, two);
    show_and_free_group(run, world);
}

SCENARIO(groups, MPI_Group_difference, MPI_Group_intersection, MPI_Group_union, MPI_Group_excl,
         MPI_Group_incl, MPI_Group_range_excl, MPI_Group_range_incl) {
    MPI_Group world = MPI_GROUP_NULL;
    CALL(MPI_Comm_group(MPI_COMM_WORLD, &world));
    const int first[1] = {0};
    MPI_Group zero = MPI_GROUP_NULL;
    CALL(MPI_Group_incl(world, 1, first, &zero));
    MPI_Group others = MPI_GROUP_NULL;
    CALL(MPI_Group_excl(world, 1, first, &others));
    MPI_Group made = MPI_GROUP_NULL;
    CALL(MPI_Group_difference(world, zero, &made));
    show_and_free_group(run, made);
    CALL(MPI_Group_intersection(world, others, &made));
    show_and_free_group(run, made);
    CALL(MPI_Group_union(others, zero, &made));
    show_and_free_group(run, made);
    int range[1][3] = {{run.size - 1, 0, -1}};
    CALL(MPI_Group_range_incl(world, 1, range, &made));
    show_and_free_group(run, made);
    int excluded[1][3] = {{0, 0, 1}};
    CALL(MPI_Group_range_excl(world, 1, excluded, &made));
    show_and_free_group(run, made);
    show_and_free_group(run, zero);
    show_and_free_group(run, others);
    show_and_free_group(run, world);
}

SCENARIO(intercommunicator, MPI_Intercomm_create, MPI_Intercomm_merge, MPI_Comm_remote_group) {
    const bool low = run.rank == 0;
    MPI_Comm half = MPI_COMM_NULL;
    CALL(MPI_Comm_split(MPI_COMM_WORLD, low ? 0 : 1, 0, &half));
    MPI_Comm inter = MPI_COMM_NULL;
    CALL(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? 1 : 0, 4, &inter));
    show(run, inter);
    int remote = -1;
    CALL(MPI_Comm_remote_size(inter, &remote));
    run.out.value("remote", remote);
    MPI_Group group = MPI_GROUP_NULL;
    CALL(MPI_Comm_remote_group(inter, &group));
    show_and_free_group(run, group);
    MPI_Comm merged = MPI_COMM_NULL;
    CALL(MPI_Intercomm_merge(inter, low ? 1 : 0, &merged));
    show_and_free(run, merged);
    CALL(MPI_Comm_free(&inter));
    CALL(MPI_Comm_free(&half));
}

SCENARIO(disconnect, MPI_Comm_disconnect) {
    MPI_Comm comm = MPI_COMM_NULL;
    CALL(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    show(run, comm);
    CALL(MPI_Comm_disconnect(&comm));
    run.out.value("null", comm == MPI_COMM_NULL);
}

SCENARIO(comm_info, MPI_Comm_set_info, MPI_Comm_get_info) {
    MPI_Comm comm = MPI_COMM_NULL;
    CALL(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI_Info info = MPI_INFO_NULL;
    CALL(MPI_Info_create(&info));
    CALL(MPI_Comm_set_info(comm, info));
    MPI_Info got = MPI_INFO_NULL;
    CALL(MPI_Comm_get_info(comm, &got));
    run.out.choice("info", got);
    int keys = -1;
    CALL(MPI_Info_get_nkeys(got, &keys));
    run.out.value("keys", keys);
    CALL(MPI_Info_free(&got));
    CALL(MPI_Info_free(&info));
    CALL(MPI_Comm_free(&comm));
}

SCENARIO(cartesian, MPI_Cart_create, MPI_Cart_sub) {
    const int dims[2] = {run.size, 1};
    const int periods[2] = {1, 0};
    MPI_Comm cart = MPI_COMM_NULL;
    CALL(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart));
    show(run, cart);
    int coords[2] = {-1, -1};
    CALL(MPI_Cart_coords(cart, run.rank, 2, coords));
    run.out.values("coords", coords, 2);
    int source = -9;
    int destination = -9;
    CALL(MPI_Cart_shift(cart, 0, 1, &source, &destination));
    run.out.value("source", source);
    run.out.value("destination", destination);
    const int remain[2] = {0, 1};
    MPI_Comm line = MPI_COMM_NULL;
    CALL(MPI_Cart_sub(cart, remain, &line));
    show_and_free(run, line);
    CALL(MPI_Comm_free(&cart));
    const int fewer[1] = {run.size - 1};
    CALL(MPI_Cart_create(MPI_COMM_WORLD, 1, fewer, periods, 1, &cart));
    show_and_free(run, cart);
}

SCENARIO(graph, MPI_Graph_create) {
    std::vector<int> index;
    std::vector<int> edges;
    for (int i = 0; i < run.size; ++i) {
        edges.push_back((i + 1) % run.size);
        index.push_back(i + 1);
    }
    MPI_Comm graph = MPI_COMM_NULL;
    CALL(MPI_Graph_create(MPI_COMM_WORLD, run.size, index.data(), edges.data(), 0, &graph));
    show(run, graph);
    int neighbors = -1;
    CALL(MPI_Graph_neighbors_count(graph, run.rank, &neighbors));
    run.out.value("neighbors", neighbors);
    CALL(MPI_Comm_free(&graph));
}

SCENARIO(distributed_graph, MPI_Dist_graph_create, MPI_Dist_graph_create_adjacent) {
    const int next[1] = {run.next()};
    const int previous[1] = {run.previous()};
    MPI_Comm graph = MPI_COMM_NULL;
    CALL(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, previous, MPI_UNWEIGHTED, 1, next,
                                        MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
    show(run, graph);
    int degrees[3] = {-1, -1, -1};
    CALL(MPI_Dist_graph_neighbors_count(graph, &degrees[0], &degrees[1], &degrees[2]));
    run.out.values("degrees", degrees, 3);
    CALL(MPI_Comm_free(&graph));
    const int degree[1] = {1};
    const int weights[1] = {run.rank + 1};
    CALL(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &run.rank, degree, next, weights, MPI_INFO_NULL,
                               0, &graph));
    show(run, graph);
    CALL(MPI_Dist_graph_neighbors_count(graph, &degrees[0], &degrees[1], &degrees[2]));
    run.out.values("degrees", degrees, 3);
    CALL(MPI_Comm_free(&graph));
}

SCENARIO(wrong_arguments, MPI_Comm_create_group, MPI_Group_incl) {
    MPI_Group world = MPI_GROUP_NULL;
    CALL(MPI_Comm_group(MPI_COMM_WORLD, &world));
    const int ranks[1] = {run.size};
    MPI_Group made = MPI_GROUP_NULL;
    RESULT(MPI_Group_incl(world, 1, ranks, &made));
    MPI_Comm comm = MPI_COMM_NULL;
    RESULT(MPI_Comm_create_group(MPI_COMM_WORLD, MPI_GROUP_NULL, 0, &comm));
    run.out.value("null", comm == MPI_COMM_NULL);
    CALL(MPI_Group_free(&world));
}

#if CD_HAS_MPI_Session_init
void ignore_error(MPI_Session *, int *, ...) {}

SCENARIO(session, MPI_Session_init, MPI_Session_finalize, MPI_Group_from_session_pset,
         MPI_Comm_create_from_group, MPI_Session_create_errhandler) {
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    CALL(MPI_Session_create_errhandler(ignore_error, &handler));
    CALL(MPI_Session_init(MPI_INFO_NULL, handler, &session));
    run.out.choice("session", session);
    CALL(MPI_Errhandler_free(&handler));
    MPI_Group world = MPI_GROUP_NULL;
    CALL(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    show_group(run, world);
    MPI_Comm comm = MPI_COMM_NULL;
    CALL(MPI_Comm_create_from_group(world, "scenario", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
#ifdef CD_OPEN_MPI_5
    CALL(MPI_Comm_free(&comm));
#else
    show_and_free(run, comm);
#endif
    show_and_free_group(run, world);
    CALL(MPI_Session_finalize(&session));
    run.out.value("null", session == MPI_SESSION_NULL);
}

#if CD_HAS_MPI_Session_set_info // Open MPI's own
SCENARIO(info_of_session, MPI_Session_set_info) {
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Info info = MPI_INFO_NULL;
    CALL(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CALL(MPI_Info_create(&info));
    CALL(MPI_Session_set_info(session, info));
    CALL(MPI_Info_free(&info));
    CALL(MPI_Session_finalize(&session));
}
#endif

SCENARIO(intercommunicator_of_groups, MPI_Intercomm_create_from_groups) {
    MPI_Group world = MPI_GROUP_NULL;
    CALL(MPI_Comm_group(MPI_COMM_WORLD, &world));
    const int ranks[2] = {0, 1};
    MPI_Group mine = MPI_GROUP_NULL;
    MPI_Group theirs = MPI_GROUP_NULL;
    CALL(MPI_Group_incl(world, 1, ranks + (run.rank == 0 ? 0 : 1), &mine));
    CALL(MPI_Group_incl(world, 1, ranks + (run.rank == 0 ? 1 : 0), &theirs));
    if (run.rank < 2) {
        MPI_Comm inter = MPI_COMM_NULL;
        CALL(MPI_Intercomm_create_from_groups(mine, 0, theirs, 0, "inter", MPI_INFO_NULL,
                                              MPI_ERRORS_RETURN, &inter));
        show_and_free(run, inter);
    }
    CALL(MPI_Group_free(&mine));
    CALL(MPI_Group_free(&theirs));
    CALL(MPI_Group_free(&world));
}
#endif

} // namespace

} // namespace communicators
