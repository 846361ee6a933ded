// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Questions about communicators that are created and freed inside a CD.

#include "harness/scenario.h"

namespace questions_about_communicators {

namespace {

using namespace cd::scenarios;

int copy_attribute(MPI_Comm, int, void *, void *value, void *copy, int *copied) {
    *static_cast<void **>(copy) = value;
    *copied = 1;
    return MPI_SUCCESS;
}

SCENARIO(asked, MPI_Comm_rank, MPI_Comm_size, MPI_Comm_test_inter, MPI_Comm_get_name,
         MPI_Comm_set_name, MPI_Comm_compare, MPI_Topo_test) {
    MPI_Comm comm = MPI_COMM_NULL;
    CALL(MPI_Comm_split(MPI_COMM_WORLD, 0, -run.rank, &comm));
    int seen[4] = {-7, -7, -7, -7};
    CALL(MPI_Comm_rank(comm, &seen[0]));
    CALL(MPI_Comm_size(comm, &seen[1]));
    CALL(MPI_Comm_test_inter(comm, &seen[2]));
    CALL(MPI_Topo_test(comm, &seen[3]));
    run.out.values("seen", seen, 4);
    int same[2] = {-7, -7};
    CALL(MPI_Comm_compare(comm, MPI_COMM_WORLD, &same[0]));
    CALL(MPI_Comm_compare(comm, comm, &same[1]));
    run.out.values("same", same, 2);
    CALL(MPI_Comm_set_name(comm, "a name"));
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = -7;
    CALL(MPI_Comm_get_name(comm, name, &length));
    run.out.value("length", length);
    // The result of each operation depends on rank and size.
    int ranks[8] = {-7, -7, -7, -7, -7, -7, -7, -7};
    CALL(MPI_Gather(&run.rank, 1, MPI_INT, ranks, 1, MPI_INT, 0, comm));
    run.out.values("gathered", ranks, 8);
    int root = run.rank;
    CALL(MPI_Bcast(&root, 1, MPI_INT, run.size - 1, comm));
    run.out.value("root", root);
    CALL(MPI_Comm_free(&comm));
    run.out.value("freed", comm == MPI_COMM_NULL);
}

#ifdef CD_HAS_MPI_Comm_c2f // elsewhere it is the same handle
SCENARIO(handle_in_fortran, MPI_Comm_dup, MPI_Comm_free) {
    // The later ones may have the handle of the first.
    for (int i = 0; i < 3; ++i) {
        MPI_Comm comm = MPI_COMM_NULL;
        CALL(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        const MPI_Fint number = MPI_Comm_c2f(comm);
        run.out.choice("number", number);
        run.out.value("it is this one", MPI_Comm_f2c(number) == comm);
        CALL(MPI_Comm_free(&comm));
    }
}
#endif

SCENARIO(between_groups, MPI_Comm_remote_size) {
    MPI_Comm half = MPI_COMM_NULL;
    CALL(MPI_Comm_split(MPI_COMM_WORLD, run.rank == 0 ? 0 : 1, 0, &half));
    MPI_Comm both = MPI_COMM_NULL;
    CALL(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, run.rank == 0 ? 1 : 0, 5, &both));
    int remote = -7;
    CALL(MPI_Comm_remote_size(both, &remote));
    run.out.value("remote", remote);
    int sum = -7;
    CALL(MPI_Allreduce(&run.rank, &sum, 1, MPI_INT, MPI_SUM, both));
    run.out.value("sum", sum);
    CALL(MPI_Comm_free(&both));
    CALL(MPI_Comm_free(&half));
}

SCENARIO(cartesian, MPI_Cart_coords, MPI_Cart_get, MPI_Cart_rank, MPI_Cart_shift, MPI_Cartdim_get) {
    const int sizes[1] = {run.size};
    const int round[1] = {1};
    MPI_Comm ring = MPI_COMM_NULL;
    CALL(MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, round, 0, &ring));
    int dimensions = -7;
    CALL(MPI_Cartdim_get(ring, &dimensions));
    int shape[3] = {-7, -7, -7};
    CALL(MPI_Cart_get(ring, 1, &shape[0], &shape[1], &shape[2]));
    int coordinates[1] = {-7};
    CALL(MPI_Cart_coords(ring, run.next(), 1, coordinates));
    int rank = -7;
    CALL(MPI_Cart_rank(ring, coordinates, &rank));
    int beside[2] = {-7, -7};
    CALL(MPI_Cart_shift(ring, 0, 1, &beside[0], &beside[1]));
    run.out.value("dimensions", dimensions);
    run.out.values("shape", shape, 3);
    run.out.value("rank", rank);
    run.out.values("beside", beside, 2);
    int from[2] = {-7, -7};
    CALL(MPI_Neighbor_allgather(&run.rank, 1, MPI_INT, from, 1, MPI_INT, ring));
    run.out.values("from", from, 2);
    CALL(MPI_Comm_free(&ring));
}

SCENARIO(graph, MPI_Graph_create, MPI_Graph_get, MPI_Graph_neighbors, MPI_Graph_neighbors_count,
         MPI_Graphdims_get) {
    // A ring.
    Buffer<int> index(static_cast<size_t>(run.size));
    Buffer<int> edges(2 * static_cast<size_t>(run.size));
    for (int i = 0; i < run.size; ++i) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + run.size - 1) % run.size;
        edges[2 * i + 1] = (i + 1) % run.size;
    }
    MPI_Comm made = MPI_COMM_NULL;
    CALL(MPI_Graph_create(MPI_COMM_WORLD, run.size, index, edges, 0, &made));
    MPI_Comm ring = MPI_COMM_NULL;
    CALL(MPI_Comm_dup(made, &ring));
    for (MPI_Comm *graph : {&made, &ring}) {
        int sizes[3] = {-7, -7, -7};
        CALL(MPI_Graphdims_get(*graph, &sizes[0], &sizes[1]));
        CALL(MPI_Graph_neighbors_count(*graph, run.next(), &sizes[2]));
        run.out.values("sizes", sizes, 3);
        const Buffer<int> index_again(static_cast<size_t>(run.size));
        const Buffer<int> edges_again(2 * static_cast<size_t>(run.size));
        CALL(MPI_Graph_get(*graph, run.size, 2 * run.size, index_again, edges_again));
        run.out.buffer("index", index_again);
        run.out.buffer("edges", edges_again);
        const Buffer<int> neighbors(2);
        CALL(MPI_Graph_neighbors(*graph, run.next(), 2, neighbors));
        run.out.buffer("neighbors", neighbors);
        const Buffer<int> ranks(2);
        CALL(MPI_Neighbor_allgather(&run.rank, 1, MPI_INT, ranks, 1, MPI_INT, *graph));
        run.out.buffer("ranks", ranks);
        CALL(MPI_Comm_free(graph));
    }
}

SCENARIO(distributed_graph, MPI_Dist_graph_create, MPI_Dist_graph_create_adjacent,
         MPI_Dist_graph_neighbors, MPI_Dist_graph_neighbors_count) {
    const int from[] = {run.previous()};
    const int to[] = {run.next()};
    const int degree[] = {1};
    const int weight[] = {10 + run.rank};
    MPI_Comm graphs[3] = {};
    CALL(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &run.rank, degree, to, weight, MPI_INFO_NULL, 0,
                               &graphs[0]));
    CALL(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, from, weight, 1, to, weight,
                                        MPI_INFO_NULL, 0, &graphs[1]));
    CALL(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, from, MPI_UNWEIGHTED, 1, to,
                                        MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graphs[2]));
    for (MPI_Comm &graph : graphs) {
        int sizes[3] = {-7, -7, -7};
        CALL(MPI_Dist_graph_neighbors_count(graph, &sizes[0], &sizes[1], &sizes[2]));
        run.out.values("sizes", sizes, 3);
        const Buffer<int> sources(1);
        const Buffer<int> destinations(1);
        const Buffer<int> weights_in(1);
        const Buffer<int> weights_out(1);
        const bool weighted = sizes[2] != 0;
        CALL(MPI_Dist_graph_neighbors(graph, 1, sources, weighted ? weights_in : MPI_UNWEIGHTED, 1,
                                      destinations, weighted ? weights_out : MPI_UNWEIGHTED));
        for (const Buffer<int> *each : {&sources, &destinations, &weights_in, &weights_out}) {
            run.out.buffer("neighbors", *each);
        }
        int rank = -7;
        CALL(MPI_Neighbor_allgather(&run.rank, 1, MPI_INT, &rank, 1, MPI_INT, graph));
        run.out.value("rank", rank);
        CALL(MPI_Comm_free(&graph));
    }
}

SCENARIO(mapped, MPI_Cart_map, MPI_Graph_map) {
    MPI_Comm comm = MPI_COMM_NULL;
    CALL(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    const int sizes[] = {run.size};
    const int periodic[] = {0};
    int place[2] = {-7, -7};
    CALL(MPI_Cart_map(comm, 1, sizes, periodic, &place[0]));
    const int index[] = {1, 2};
    const int edges[] = {1, 0};
    CALL(MPI_Graph_map(comm, 2, index, edges, &place[1]));
    run.out.values("place", place, 2);
    CALL(MPI_Comm_free(&comm));
}

SCENARIO(packed, MPI_Comm_dup) {
    MPI_Comm comm = MPI_COMM_NULL;
    CALL(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    int size = -7;
    CALL(MPI_Pack_size(3, MPI_INT, comm, &size));
    run.out.value("size", size);
    const Buffer<int> numbers = sequence(3, run.rank);
    const Buffer<char> packed(static_cast<size_t>(size));
    int at = 0;
    CALL(MPI_Pack(numbers, 3, MPI_INT, packed, size, &at, comm));
    at = 0;
    const Buffer<int> unpacked(3);
    CALL(MPI_Unpack(packed, size, &at, unpacked, 3, MPI_INT, comm));
    run.out.buffer("unpacked", unpacked);
    CALL(MPI_Comm_free(&comm));
}

void leave_errors(MPI_Comm *, int *, ...) {}

SCENARIO(error_handlers, MPI_Comm_get_errhandler, MPI_Errhandler_get, MPI_Comm_set_errhandler) {
    MPI_Comm comm = MPI_COMM_NULL;
    CALL(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI_Errhandler made = MPI_ERRHANDLER_NULL;
    CALL(MPI_Comm_create_errhandler(leave_errors, &made));
    MPI_Errhandler found[2] = {MPI_ERRHANDLER_NULL, MPI_ERRHANDLER_NULL};
    CALL(MPI_Comm_get_errhandler(comm, &found[0]));
    run.out.value("inherited", found[0] == MPI_ERRORS_RETURN);
    CALL(MPI_Comm_set_errhandler(comm, made));
    CALL(MPI_Errhandler_get(comm, &found[1]));
    run.out.value("set", found[1] == made);
    CALL(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER));
    CALL(MPI_Errhandler_free(&found[1]));
    CALL(MPI_Errhandler_free(&made));
    CALL(MPI_Comm_free(&comm));
}

SCENARIO(attributes, MPI_Comm_get_attr, MPI_Attr_get) {
    static int value = 5;
    MPI_Comm comm = MPI_COMM_NULL;
    int key = MPI_KEYVAL_INVALID;
    CALL(MPI_Comm_create_keyval(copy_attribute, MPI_COMM_NULL_DELETE_FN, &key, nullptr));
    CALL(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CALL(MPI_Comm_set_attr(comm, key, &value));
    void *found = nullptr;
    int present[2] = {-7, -7};
    CALL(MPI_Comm_get_attr(comm, key, &found, &present[0]));
    run.out.value("found", found == &value);
    found = nullptr;
    CALL(MPI_Attr_get(comm, key, &found, &present[1]));
    run.out.value("found again", found == &value);
    run.out.values("present", present, 2);
    CALL(MPI_Comm_delete_attr(comm, key));
    CALL(MPI_Comm_free(&comm));
    CALL(MPI_Comm_free_keyval(&key));
}

} // namespace

} // namespace questions_about_communicators
