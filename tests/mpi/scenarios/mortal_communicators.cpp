// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Communicators that are freed at once, as those are that a program makes when many others wait to
// be freed: a replay uses their handles without MPI. main.cpp makes all of this file's like that.

#include "harness/scenario.h"

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
    CALL(MPI_Comm_set_name(comm, "a mortal"));
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = -7;
    CALL(MPI_Comm_get_name(comm, name, &length));
    run.out.value("length", length);
    // What each operation brings depends on rank and size.
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
