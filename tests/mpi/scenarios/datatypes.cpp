// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Derived datatypes: making them, and data that arrive through them.

#include "harness/scenario.h"

#include <cstddef>

namespace datatypes {

namespace {

using namespace cd::scenarios;

constexpr int tag = 41;

// Sends twelve ints to the next rank, and receives count of the type, which is freed.
void receive(Run &run, MPI_Datatype type, Count count) {
    run.out.choice("type", type);
    CALL(MPI_Type_commit(&type));
    const auto sent = sequence(12, 100 * run.rank);
    auto received = sequence(40, -40);
    Status status;
    CALL(SIZED(MPI_Sendrecv)(sent, 12, MPI_INT, run.next(), tag, received, count, type,
                             run.previous(), tag, MPI_COMM_WORLD, &status));
    run.out.buffer("received", received);
    run.out.status("status", status);
    int whole = -1;
    CALL(MPI_Get_count(&status, type, &whole));
    run.out.value("whole elements", whole);
    CALL(MPI_Type_free(&type));
    run.out.value("null", type == MPI_DATATYPE_NULL);
}

SCENARIO(contiguous, SIZED(MPI_Type_contiguous), MPI_Type_free) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    CALL(SIZED(MPI_Type_contiguous)(4, MPI_INT, &type));
    receive(run, type, 3);
}

// Five ints are in the last element: it arrives in part.
SCENARIO(partial, SIZED(MPI_Type_contiguous)) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    CALL(SIZED(MPI_Type_contiguous)(7, MPI_INT, &type));
    receive(run, type, 3);
}

// A pair of pairs, and ints.
SCENARIO(contents, SIZED(MPI_Type_get_contents)) {
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    CALL(SIZED(MPI_Type_contiguous)(2, MPI_INT, &pair));
    MPI_Datatype pairs = MPI_DATATYPE_NULL;
    CALL(MPI_Type_vector(2, 1, 3, pair, &pairs));
    for (const MPI_Datatype type : {pairs, pair}) {
        int integers[3] = {-7, -7, -7};
        MPI_Datatype inner[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
#ifdef CD_LARGE_COUNTS
        MPI_Count counts[1] = {-7};
        CALL(MPI_Type_get_contents_c(type, 3, 0, 1, 2, integers, nullptr, counts, inner));
        run.out.values("counts", counts, 1);
#else
        CALL(MPI_Type_get_contents(type, 3, 0, 2, integers, nullptr, inner));
#endif
        run.out.values("integers", integers, 3);
        run.out.value("of ints", inner[0] == MPI_INT);
        run.out.value("untouched", inner[1] == MPI_DATATYPE_NULL);
        if (inner[0] != MPI_INT) {
            run.out.choice("inner", inner[0]);
            CALL(MPI_Type_free(&inner[0]));
        }
    }
    CALL(MPI_Type_free(&pairs));
    CALL(MPI_Type_free(&pair));
}

SCENARIO(vector, SIZED(MPI_Type_vector)) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    CALL(SIZED(MPI_Type_vector)(3, 2, 4, MPI_INT, &type));
    receive(run, type, 3);
}

SCENARIO(hvector, SIZED(MPI_Type_create_hvector)) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    CALL(SIZED(MPI_Type_create_hvector)(2, 3, 5 * sizeof(int), MPI_INT, &type));
    receive(run, type, 2);
}

SCENARIO(indexed, SIZED(MPI_Type_indexed), SIZED(MPI_Type_create_indexed_block)) {
    const std::vector<Count> lengths = {2, 1, 3};
    const std::vector<Count> displacements = {7, 3, 11};
    MPI_Datatype type = MPI_DATATYPE_NULL;
    CALL(SIZED(MPI_Type_indexed)(3, lengths.data(), displacements.data(), MPI_INT, &type));
    receive(run, type, 2);
    CALL(SIZED(MPI_Type_create_indexed_block)(3, 2, displacements.data(), MPI_INT, &type));
    receive(run, type, 2);
}

SCENARIO(hindexed, SIZED(MPI_Type_create_hindexed), SIZED(MPI_Type_create_hindexed_block)) {
#ifdef CD_LARGE_COUNTS
    using Displacements = std::vector<MPI_Count>;
#else
    using Displacements = std::vector<MPI_Aint>;
#endif
    const std::vector<Count> lengths = {2, 1};
    const Displacements displacements = {28, 4};
    MPI_Datatype type = MPI_DATATYPE_NULL;
    CALL(SIZED(MPI_Type_create_hindexed)(2, lengths.data(), displacements.data(), MPI_INT, &type));
    receive(run, type, 4);
    CALL(SIZED(MPI_Type_create_hindexed_block)(2, 2, displacements.data(), MPI_INT, &type));
    receive(run, type, 3);
}

struct Record {
    char letter; // and a gap
    double number;
    int count; // and a gap
};

SCENARIO(structure, SIZED(MPI_Type_create_struct), SIZED(MPI_Type_create_resized)) {
#ifdef CD_LARGE_COUNTS
    using Displacements = std::vector<MPI_Count>;
#else
    using Displacements = std::vector<MPI_Aint>;
#endif
    const std::vector<Count> lengths = {1, 1, 1};
    const Displacements displacements = {offsetof(Record, letter), offsetof(Record, number),
                                         offsetof(Record, count)};
    const MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
    MPI_Datatype fields = MPI_DATATYPE_NULL;
    CALL(SIZED(MPI_Type_create_struct)(3, lengths.data(), displacements.data(), types, &fields));
    MPI_Datatype type = MPI_DATATYPE_NULL;
    CALL(SIZED(MPI_Type_create_resized)(fields, 0, sizeof(Record), &type));
    CALL(MPI_Type_free(&fields));
    CALL(MPI_Type_commit(&type));
    Buffer<Record> sent(3);
    for (int i = 0; i < 3; ++i) {
        sent[i] = {static_cast<char>('a' + i), 0.5 * run.rank + i, run.rank};
    }
    Buffer<Record> received(4);
    Status status;
    CALL(SIZED(MPI_Sendrecv)(sent, 3, type, run.next(), tag, received, 4, type, run.previous(), tag,
                             MPI_COMM_WORLD, &status));
    run.out.buffer("received", received);
    run.out.status("status", status);
    Buffer<Record> told(2);
    told[0] = told[1] = {static_cast<char>('k' + run.rank), 1.5, run.rank};
    CALL(SIZED(MPI_Bcast)(told, 2, type, 0, MPI_COMM_WORLD));
    for (int i = 0; i < 2; ++i) {
        run.out.value("told", told[i].letter);
        run.out.value("told", told[i].number);
        run.out.value("told", told[i].count);
    }
    CALL(MPI_Type_free(&type));
}

SCENARIO(negative_lower_bound, SIZED(MPI_Type_create_resized)) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    CALL(SIZED(MPI_Type_create_resized)(MPI_INT, -4, 12, &type));
    receive(run, type, 12);
}

SCENARIO(subarray, SIZED(MPI_Type_create_subarray), SIZED(MPI_Type_create_darray)) {
    const std::vector<Count> sizes = {4, 5};
    const std::vector<Count> part = {2, 3};
    const std::vector<Count> start = {1, 1};
    MPI_Datatype type = MPI_DATATYPE_NULL;
    CALL(SIZED(MPI_Type_create_subarray)(2, sizes.data(), part.data(), start.data(), MPI_ORDER_C,
                                         MPI_INT, &type));
    receive(run, type, 2);
    const int distributions[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
    const int arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
    const int processes[2] = {2, 1};
    CALL(SIZED(MPI_Type_create_darray)(2, run.rank % 2, 2, sizes.data(), distributions, arguments,
                                       processes, MPI_ORDER_C, MPI_INT, &type));
    receive(run, type, 2);
}

// The addresses are in the type.
SCENARIO_WITH_FIXED_BUFFERS(absolute, SIZED(MPI_Type_create_hindexed)) {
#ifdef CD_LARGE_COUNTS
    using Address = MPI_Count;
#else
    using Address = MPI_Aint;
#endif
    const auto sent = sequence(3, 10 * run.rank);
    Buffer<int> first(2);
    Buffer<int> second(2);
    MPI_Aint addresses[2];
    CALL(MPI_Get_address(first, &addresses[0]));
    CALL(MPI_Get_address(second, &addresses[1]));
    const std::vector<Count> lengths = {2, 1};
    const std::vector<Address> displacements = {addresses[0], addresses[1]};
    MPI_Datatype type = MPI_DATATYPE_NULL;
    CALL(SIZED(MPI_Type_create_hindexed)(2, lengths.data(), displacements.data(), MPI_INT, &type));
    CALL(MPI_Type_commit(&type));
    CALL(SIZED(MPI_Sendrecv)(sent, 3, MPI_INT, run.next(), tag, MPI_BOTTOM, 1, type, run.previous(),
                             tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    run.out.buffer("first", first);
    run.out.buffer("second", second);
    MPI_Request request = MPI_REQUEST_NULL;
    CALL(SIZED(MPI_Irecv)(MPI_BOTTOM, 1, type, run.previous(), tag, MPI_COMM_WORLD, &request));
    CALL(MPI_Type_free(&type)); // while it is in use
    CALL(SIZED(MPI_Send)(sent, 3, MPI_INT, run.next(), tag, MPI_COMM_WORLD));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    run.out.buffer("first", first);
    run.out.buffer("second", second);
}

SCENARIO(sent_vector, SIZED(MPI_Type_vector), SIZED(MPI_Isend)) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    CALL(SIZED(MPI_Type_vector)(4, 1, 3, MPI_INT, &type));
    CALL(MPI_Type_commit(&type));
    const auto sent = sequence(12, 100 * run.rank);
    Buffer<int> received(4);
    MPI_Request request = MPI_REQUEST_NULL;
    CALL(SIZED(MPI_Isend)(sent, 1, type, run.next(), tag, MPI_COMM_WORLD, &request));
    CALL(SIZED(MPI_Recv)(received, 4, MPI_INT, run.previous(), tag, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    run.out.buffer("received", received);
    CALL(MPI_Type_free(&type));
}

#ifndef CD_LARGE_COUNTS
SCENARIO(dup, MPI_Type_dup) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    CALL(MPI_Type_dup(MPI_INT, &type));
    receive(run, type, 12);
}

SCENARIO(fortran_types, MPI_Type_create_f90_real, MPI_Type_create_f90_integer,
         MPI_Type_create_f90_complex) {
    // Predefined: handles and sizes are what can be seen.
    MPI_Datatype type = MPI_DATATYPE_NULL;
    int size = -1;
    CALL(MPI_Type_create_f90_real(6, 30, &type));
    run.out.choice("real", type);
    CALL(MPI_Type_size(type, &size));
    run.out.value("size", size);
    CALL(MPI_Type_create_f90_integer(4, &type));
    run.out.choice("integer", type);
    CALL(MPI_Type_create_f90_complex(6, 30, &type));
    run.out.choice("complex", type);
}

#if CD_HAS_MPI_Type_struct
SCENARIO(old_names, MPI_Type_hvector, MPI_Type_hindexed, MPI_Type_struct) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    CALL(MPI_Type_hvector(2, 3, 5 * sizeof(int), MPI_INT, &type));
    receive(run, type, 2);
    int lengths[2] = {2, 1};
    MPI_Aint displacements[2] = {28, 4};
    CALL(MPI_Type_hindexed(2, lengths, displacements, MPI_INT, &type));
    receive(run, type, 4);
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    CALL(MPI_Type_struct(2, lengths, displacements, types, &type));
    receive(run, type, 4);
}
#endif
#endif

#ifdef CD_LARGE_COUNTS
void add_large(void *in, void *inout, MPI_Count *length, MPI_Datatype *) {
    for (MPI_Count i = 0; i < *length; ++i) {
        static_cast<int *>(inout)[i] += static_cast<int *>(in)[i];
    }
}
SCENARIO(own_operator, MPI_Op_create_c) {
    MPI_Op op = MPI_OP_NULL;
    CALL(MPI_Op_create_c(add_large, 1, &op));
    Buffer<int> sum(1);
    CALL(MPI_Allreduce_c(&run.rank, sum, 1, MPI_INT, op, MPI_COMM_WORLD));
    run.out.buffer("sum", sum);
    CALL(MPI_Op_free(&op));
}
#endif

} // namespace

} // namespace datatypes
