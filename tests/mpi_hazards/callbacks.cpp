// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Functions of the program that MPI calls, and that call MPI themselves: what they do belongs to
// the call of MPI that they are in.
#include "hazard.h"

namespace callbacks {

namespace {

int operator_calls = 0;

void talk_to_itself() {
    const int sent = 5;
    int received = 0;
    MPI_Sendrecv(&sent, 1, MPI_INT, 0, 3, &received, 1, MPI_INT, 0, 3, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    CHECK(received == sent);
}

// Asks for something, and communicates.
void add_and_talk_to_itself(void *in, void *inout, int *length, MPI_Datatype *type) {
    ++operator_calls;
    int size = 0;
    MPI_Type_size(*type, &size);
    CHECK(size == static_cast<int>(sizeof(int)));
    talk_to_itself();
    for (int i = 0; i < *length; ++i) {
        static_cast<int *>(inout)[i] += static_cast<const int *>(in)[i];
    }
}

int handler_calls = 0;
int handler_rank = -1;

void ask_for_the_error(MPI_Comm *comm, int *error, ...) {
    ++handler_calls;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(*error, text, &length);
    CHECK(length > 0);
    MPI_Comm_rank(*comm, &handler_rank);
    talk_to_itself();
}

int copies = 0;
int deletions = 0;

int copy_with_size(MPI_Comm from, int, void *, void *value, void *copy, int *flag) {
    ++copies;
    int size = 0;
    MPI_Comm_size(from, &size);
    MPI_Barrier(from);
    *static_cast<void **>(copy) = static_cast<char *>(value) + size;
    *flag = 1;
    return MPI_SUCCESS;
}

int count_deletions(MPI_Comm, int, void *, void *) {
    ++deletions;
    int initialized = 0;
    MPI_Initialized(&initialized);
    return MPI_SUCCESS;
}

// That the log has nothing else: what comes next is in its place, and then live.
void go_on_with(Domain &domain) {
    if (world_rank() == 0) {
        CHECK(receive(eager, 1, 8) == numbers(8, eager));
        CHECK(domain.info().replaying == 0);
    } else {
        send(numbers(8, eager), 0, 8);
    }
}

} // namespace

HAZARD(operator_calls_mpi) {
    MPI_Op sum = MPI_OP_NULL;
    MPI_Op_create(add_and_talk_to_itself, 1, &sum);
    Domain domain;
    const auto reduce = [&] {
        Numbers total(eager);
        const Numbers own = numbers(1, eager);
        MPI_Allreduce(own.data(), total.data(), eager, MPI_INT, sum, MPI_COMM_WORLD);
        return total;
    };
    const Numbers first = reduce();
    CHECK(reduce() == first); // when the thread has just recorded
    go_on_with(domain);
    if (world_rank() == 0) {
        const int calls = operator_calls;
        domain.restore();
        CHECK(reduce() == first);
        CHECK(reduce() == first);
        CHECK(receive(eager, 1, 8) == numbers(8, eager));
        CHECK(operator_calls == calls); // there was nothing to add
    }
    CHECK(reduce() == first);
    MPI_Op_free(&sum);
}

HAZARD(error_handler_calls_mpi) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(ask_for_the_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (world_rank() == 1) {
        send(numbers(1, eager), 0, 1);
        send(numbers(8, eager), 0, 8);
        return;
    }
    Numbers buffer(eager);
    Domain domain;
    const auto fail = [&] {
        handler_rank = -1;
        const int result =
            MPI_Recv(buffer.data(), eager / 2, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(handler_rank == 0);
        return result;
    };
    const int error = fail();
    CHECK(error != MPI_SUCCESS);
    CHECK(handler_calls == 1);
    CHECK(receive(eager, 1, 8) == numbers(8, eager));
    for (int i = 2; i <= 3; ++i) {
        domain.restore();
        CHECK(fail() == error);
        CHECK(handler_calls == i);
        CHECK(receive(eager, 1, 8) == numbers(8, eager));
        CHECK(domain.info().replaying == 0);
    }
}

HAZARD(attribute_functions_call_mpi) {
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(copy_with_size, count_deletions, &key, nullptr);
    static char values[8];
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, values);
    {
        Domain domain;
        const auto duplicate = [&] {
            MPI_Comm copy = MPI_COMM_NULL;
            MPI_Comm_dup(MPI_COMM_WORLD, &copy);
            char *value = nullptr;
            int present = 0;
            MPI_Comm_get_attr(copy, key, &value, &present);
            CHECK(present != 0 && value == values + 2);
            MPI_Comm_free(&copy);
        };
        duplicate();
        go_on_with(domain);
        CHECK(copies == 1);
        if (world_rank() == 0) {
            domain.restore();
            duplicate();
            go_on_with(domain);
            CHECK(copies == 1);
            CHECK(deletions == 0); // the log may name the communicator
        }
    }
    CHECK(deletions == 1);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
}

} // namespace callbacks
