// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Objects whose freeing a restore takes back, and whose log goes before the re-execution has come
// to that again.
#include "cd/mpi_log.h"
#include "types.h"

namespace given_back {

// The program has them again, as a restore gave them back.
HAZARD(objects_live_on_when_the_log_goes_before_the_reexecution_frees_them) {
    const auto sum_of_ranks = [](MPI_Comm comm, MPI_Op op) {
        const int mine = 1 + world_rank();
        int sum = 0;
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, op, comm);
        return sum;
    };
    MPI_Comm first = MPI_COMM_NULL;
    MPI_Op adding = MPI_OP_NULL;
    MPI_Comm_dup(MPI_COMM_SELF, &first);
    MPI_Op_create([](void *in, void *inout, int *,
                     MPI_Datatype *) { *static_cast<int *>(inout) += *static_cast<int *>(in); },
                  1, &adding);
    {
        MPI_Comm comm = first;
        MPI_Op op = adding;
        Domain domain;
        sum_of_ranks(comm, op);
        MPI_Comm_free(&comm);
        MPI_Op_free(&op);
        domain.restore();
        CHECK(sum_of_ranks(first, adding) == 1 + world_rank());
    }
    CHECK(sum_of_ranks(first, adding) == 1 + world_rank());
    MPI_Comm_free(&first);
    MPI_Op_free(&adding);
}

namespace {

int attributes_deleted = 0;
int count_attributes_deleted(MPI_Datatype, int, void *, void *) {
    ++attributes_deleted;
    return MPI_SUCCESS;
}

int errors_handled = 0;
void count_error(MPI_Comm *, int *, ...) { ++errors_handled; }
void fail_on_error(MPI_Comm *, int *, ...) { CHECK(false); }

// So that freed objects' memory has something else in it.
void make_other_objects() {
    make_other_types();
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < 20; ++i) {
        const int rank = 1 - world_rank();
        MPI_Group other = MPI_GROUP_NULL;
        MPI_Group_incl(world, 1, &rank, &other);
        MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
        MPI_Comm_create_errhandler(fail_on_error, &handler);
    }
}

} // namespace

// Of these a program may have more than one handle, and MPI counts them.
HAZARD(references_live_on_when_the_log_goes_before_the_reexecution_frees_them) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Datatype column = column_type();
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    const int rank = world_rank();
    MPI_Group own = MPI_GROUP_NULL;
    MPI_Group_incl(world, 1, &rank, &own);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(count_error, &handler);
    {
        Domain domain;
        const auto free_all = [=](MPI_Datatype type, MPI_Group group, MPI_Errhandler errors) {
            MPI_Group_free(&group);
            MPI_Errhandler_free(&errors);
            MPI_Type_free(&type);
        };
        free_all(column, own, handler);
        domain.restore();
        free_all(column, own, handler);
        domain.restore();
    }
    make_other_objects();
    int size = 0;
    MPI_Group_size(own, &size);
    CHECK(size == 1);
    int in_world = MPI_UNDEFINED;
    const int zero = 0;
    MPI_Group_translate_ranks(own, 1, &zero, world, &in_world);
    CHECK(in_world == rank);
    MPI_Type_size(column, &size);
    CHECK(size == rows * int(sizeof(int)));
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
    CHECK(errors_handled == 1);
    MPI_Type_free(&column);
    MPI_Group_free(&own);
    MPI_Group_free(&world);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
}

// Its re-execution ends before it comes to what it has freed, which the parent goes on with.
HAZARD(child_ends_before_it_frees_its_type_again) {
    int key = MPI_KEYVAL_INVALID;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_attributes_deleted, &key, nullptr);
    for (const bool parent_frees_it : {true, false}) {
        MPI_Datatype kept = column_type();
        MPI_Type_set_attr(kept, key, nullptr);
        attributes_deleted = 0;
        MPI_Datatype type = kept;
        {
            Domain parent;
            {
                Domain child(parent.handle());
                MPI_Type_free(&type);
                child.restore();
                type = kept;
            }
            if (parent_frees_it) {
                MPI_Type_free(&type);
            }
            CHECK(attributes_deleted == 0);
        }
        CHECK(attributes_deleted == (parent_frees_it ? 1 : 0));
        if (!parent_frees_it) {
            MPI_Type_free(&type);
            CHECK(attributes_deleted == 1);
        }
    }
    MPI_Type_free_keyval(&key);
}

// A restore of the child replays all that the child has done.
HAZARD(type_freed_in_a_child_whose_parent_forgets_its_log) {
    int key = MPI_KEYVAL_INVALID;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_attributes_deleted, &key, nullptr);
    Domain parent;
    {
        Domain child(parent.handle());
        const auto use = [&] {
            MPI_Datatype type = column_type();
            MPI_Type_set_attr(type, key, nullptr);
            MPI_Type_free(&type);
        };
        use();
        CHECK(delete_MPI_log_from_cd(parent.handle()) == SUCCESS);
        CHECK(attributes_deleted == 0);
        child.restore();
        use();
    }
    attributes_deleted = 0;
    CHECK(delete_MPI_log_from_cd(parent.handle()) == SUCCESS);
    CHECK(attributes_deleted == 1);
    MPI_Type_free_keyval(&key);
}

} // namespace given_back
