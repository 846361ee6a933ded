// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Types that say where data lie by address, while a re-execution has them elsewhere; and other
// arrays that a program gives to MPI.
#include "cd/mpi_log.h"
#include "hazard.h"

#include <memory>
#include <thread>
#include <vector>

namespace moved_types {

namespace {

// Two pieces of memory that the program makes inside its domain, so that a re-execution has others.
struct Pieces {
    Numbers one = Numbers(eager);
    Numbers two = Numbers(eager);
    bool hold(int seed) const {
        return one == numbers(seed, eager) && two == numbers(seed + 1, eager);
    }
};

MPI_Datatype type_of(Pieces &pieces) {
    MPI_Aint places[2];
    MPI_Get_address(pieces.one.data(), &places[0]);
    MPI_Get_address(pieces.two.data(), &places[1]);
    const int lengths[] = {eager, eager};
    const MPI_Datatype types[] = {MPI_INT, MPI_INT};
    MPI_Datatype both = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(2, lengths, places, types, &both);
    // What is made of it lies elsewhere, too.
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(1, both, &type);
    MPI_Type_free(&both);
    MPI_Type_commit(&type);
    return type;
}

void receive(MPI_Datatype type, int tag) {
    MPI_Recv(MPI_BOTTOM, 1, type, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void send_pieces(int seed, int tag) {
    Numbers both = numbers(seed, eager);
    const Numbers two = numbers(seed + 1, eager);
    both.insert(both.end(), two.begin(), two.end());
    send(both, 0, tag);
}

// All that a program had in its executions, so that none has the memory of another.
std::vector<std::unique_ptr<Pieces>> executions;

Pieces &new_pieces() { return *executions.emplace_back(std::make_unique<Pieces>()); }

} // namespace

// Each execution gets its data where it wants them, whether it frees its type in the log, behind
// its end, or never.
HAZARD(types_of_addresses_move_with_the_memory) {
    if (world_rank() == 1) {
        for (int tag = 1; tag <= 4; ++tag) {
            send_pieces(10 * tag, tag);
        }
        CHECK(::receive(2 * eager, 0, 5) == ::receive(2 * eager, 0, 6));
        return;
    }
    Numbers state(eager);
    Domain domain;
    domain.keep(state);
    const auto execute = [&](bool to_the_end) {
        Pieces &pieces = new_pieces();
        MPI_Datatype freed = type_of(pieces);
        receive(freed, 1);
        CHECK(pieces.hold(10));
        MPI_Type_free(&freed);
        MPI_Datatype kept = type_of(pieces);
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Recv_init(MPI_BOTTOM, 1, kept, 1, 2, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(pieces.hold(20));
        MPI_Request_free(&request);
        MPI_Request posted = MPI_REQUEST_NULL;
        MPI_Irecv(MPI_BOTTOM, 1, kept, 1, 3, MPI_COMM_WORLD, &posted);
        MPI_Wait(&posted, MPI_STATUS_IGNORE);
        CHECK(pieces.hold(30));
        MPI_Send(MPI_BOTTOM, 1, kept, 1, 5, MPI_COMM_WORLD);
        MPI_Irecv(MPI_BOTTOM, 1, kept, 1, 4, MPI_COMM_WORLD, &posted); // under way at the restore
        if (to_the_end) {
            MPI_Wait(&posted, MPI_STATUS_IGNORE);
            CHECK(pieces.hold(40));
            set(pieces.one, numbers(30, eager));
            set(pieces.two, numbers(31, eager));
            MPI_Send(MPI_BOTTOM, 1, kept, 1, 6, MPI_COMM_WORLD);
            MPI_Type_free(&kept);
        }
    };
    execute(false);
    for (int i = 0; i < 2; ++i) {
        domain.restore();
        execute(false);
    }
    domain.restore();
    execute(true);
    domain.restore();
    execute(true);
}

namespace {

int freed_types = 0;

int count_freed(MPI_Datatype, int, void *, void *) {
    ++freed_types;
    return MPI_SUCCESS;
}

} // namespace

// When the program frees what a re-execution has made, nobody has the first execution's type.
HAZARD_IN_THREADS(type_made_anew_takes_the_first_one_along) {
    if (world_rank() == 1) {
        return;
    }
    int key = MPI_KEYVAL_INVALID;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_freed, &key, nullptr);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    {
        Numbers state(eager);
        Domain domain;
        domain.keep(state);
        type = type_of(new_pieces());
        // No log knows of it, so that it stays with this one.
        std::thread([&] { MPI_Type_set_attr(type, key, nullptr); }).join();
        domain.restore();
        type = type_of(new_pieces());
    }
    CHECK(freed_types == 0);
    MPI_Type_free(&type);
    CHECK(freed_types == 1);
    MPI_Type_free_keyval(&key);
}

// The log goes, and with it the first execution's type, while the program has the one made anew.
HAZARD(type_made_anew_outlives_the_log_of_the_first_one) {
    if (world_rank() == 1) {
        return;
    }
    int key = MPI_KEYVAL_INVALID;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_freed, &key, nullptr);
    Numbers state(eager);
    Domain domain;
    domain.keep(state);
    MPI_Datatype type = type_of(new_pieces());
    MPI_Type_free(&type);
    domain.restore();
    type = type_of(new_pieces());
    CHECK(delete_MPI_log_from_cd(domain.handle()) == SUCCESS);
    MPI_Type_set_attr(type, key, nullptr);
    MPI_Type_free(&type);
    CHECK(freed_types == 0);
    domain.advance();
    CHECK(freed_types == 1);
    MPI_Type_free_keyval(&key);
}

// What MPI tells that a type is made of lies elsewhere in the re-execution.
HAZARD(contents_of_a_type_that_was_made_anew) {
    Domain domain;
    std::vector<Numbers> memory(3, Numbers(2));
    for (size_t i = 0; i < memory.size(); ++i) {
        MPI_Aint places[2];
        MPI_Get_address(&memory[i][0], &places[0]);
        MPI_Get_address(&memory[i][1], &places[1]);
        const int lengths[] = {1, 1};
        const MPI_Datatype types[] = {MPI_INT, MPI_INT};
        MPI_Datatype inner = MPI_DATATYPE_NULL;
        MPI_Type_create_struct(2, lengths, places, types, &inner);
        MPI_Datatype outer = MPI_DATATYPE_NULL;
        MPI_Type_contiguous(3, inner, &outer);
        MPI_Type_free(&inner);
        int integers[2] = {};
        MPI_Datatype part = MPI_DATATYPE_NULL;
        MPI_Type_get_contents(outer, 2, 0, 1, integers, nullptr, &part);
        CHECK(integers[0] == 3);
        MPI_Type_commit(&part);
        const Numbers out = numbers(1, 2);
        MPI_Sendrecv(out.data(), 2, MPI_INT, 0, 1, MPI_BOTTOM, 1, part, 0, 1, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
        CHECK(memory[i] == out);
        MPI_Type_free(&part);
        MPI_Type_free(&outer);
        if (i + 1 < memory.size()) {
            domain.restore();
        }
    }
}

namespace {

// What is made with the first numbers is not what a re-execution makes with the others.
template <typename Make> void differs(const Make &make) {
    if (world_rank() == 1) {
        make(0);
        return;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    Numbers state(eager);
    Domain domain;
    domain.keep(state);
    CHECK(make(0) == MPI_SUCCESS);
    domain.restore();
    CHECK(make(0) == MPI_SUCCESS);
    domain.restore();
    CHECK(make(1) != MPI_SUCCESS);
}

} // namespace

HAZARD(divergence_in_an_array) {
    differs([](int which) { // blocks of a type
        const int lengths[][2] = {{1, 2}, {2, 1}};
        const int places[] = {0, 4};
        MPI_Datatype type = MPI_DATATYPE_NULL;
        return MPI_Type_indexed(2, lengths[which], places, MPI_INT, &type);
    });
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    differs([&](int which) { // ranks
        MPI_Group group = MPI_GROUP_NULL;
        return MPI_Group_incl(world, 1, &which, &group);
    });
    MPI_Group_free(&world);
    differs([](int which) { // the shape of a grid
        const int dimensions[][2] = {{1, 2}, {2, 1}};
        const int periods[] = {1, 1};
        MPI_Comm grid = MPI_COMM_NULL;
        return MPI_Cart_create(MPI_COMM_WORLD, 2, dimensions[which], periods, 0, &grid);
    });
}

} // namespace moved_types
