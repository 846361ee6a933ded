// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Functions of the program that MPI calls, and that call MPI themselves: what they do belongs to
// the call of MPI that they are in.
#include "hazard.h"

#include <functional>
#include <string>

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

namespace {

MPI_Request under_way = MPI_REQUEST_NULL;
Numbers awaited;

template <typename Handle> void wait_for_it(Handle *, int *, ...) {
    ++handler_calls;
    talk_to_itself();
    MPI_Wait(&under_way, MPI_STATUS_IGNORE);
    CHECK(awaited == numbers(6, eager));
}

// MPI has freed in the replay what has the handler, which does what it did.
void call_handlers_again(const std::function<void()> &execute) {
    Domain domain;
    awaited = numbers(9, eager);
    domain.keep(awaited);
    handler_calls = 0;
    for (int i = 1; i <= 3; ++i) {
        const Numbers sent = numbers(6, eager);
        MPI_Irecv(awaited.data(), eager, MPI_INT, 0, 4, MPI_COMM_SELF, &under_way);
        MPI_Send(sent.data(), eager, MPI_INT, 0, 4, MPI_COMM_SELF);
        execute();
        MPI_Wait(&under_way, MPI_STATUS_IGNORE);
        CHECK(domain.info().replaying == 0);
        CHECK(handler_calls == i);
        if (i < 3) {
            domain.restore();
        }
    }
}

} // namespace

HAZARD(handler_that_the_program_calls_for_a_closed_file_calls_mpi) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_File_create_errhandler(wait_for_it<MPI_File>, &handler);
    call_handlers_again([handler] {
        MPI_File file = MPI_FILE_NULL;
        MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
        MPI_File_set_errhandler(file, handler);
        CHECK(MPI_File_call_errhandler(file, MPI_ERR_IO) == MPI_SUCCESS);
        MPI_File_close(&file);
    });
    MPI_Errhandler_free(&handler);
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

namespace {

// The attribute is a communicator of its own, which goes with the one that has it.
int free_with(MPI_Comm, int, void *value, void *) {
    ++deletions;
    return MPI_Comm_free(static_cast<MPI_Comm *>(value));
}

bool may_be_deleted = false;
int delete_if_allowed(MPI_Comm, int, void *, void *) {
    return may_be_deleted ? MPI_SUCCESS : MPI_ERR_OTHER;
}

} // namespace

// What it calls is the program's: the re-execution gets the same communicator once more.
HAZARD(attribute_frees_a_communicator_with_the_one_that_has_it) {
    deletions = 0;
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_with, &key, nullptr);
    Domain domain;
    const auto execute = [key] {
        MPI_Comm outer = MPI_COMM_NULL;
        MPI_Comm inner = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &outer);
        MPI_Comm_dup(outer, &inner);
        MPI_Comm_set_attr(outer, key, &inner);
        int sum = 0;
        const int own = 1 + world_rank();
        MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, inner);
        CHECK(sum == 3);
        MPI_Comm_free(&outer);
        CHECK(inner == MPI_COMM_NULL);
    };
    for (int i = 1; i <= 3; ++i) {
        execute();
        CHECK(deletions == i);
        if (i < 3) {
            domain.restore();
            CHECK(deletions == i);
        }
    }
    go_on_with(domain);
    domain.advance();
    CHECK(deletions == 3);
    execute();
    MPI_Comm_free_keyval(&key);
}

HAZARD(attribute_that_refuses_to_go_keeps_its_communicator) {
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_if_allowed, &key, nullptr);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); // which MPICH calls
    Domain domain;
    const auto execute = [key] {
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        MPI_Comm_set_attr(comm, key, nullptr);
        may_be_deleted = false;
        CHECK(MPI_Comm_free(&comm) != MPI_SUCCESS);
        CHECK(comm != MPI_COMM_NULL);
        MPI_Barrier(comm);
        may_be_deleted = true;
        CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
    };
    execute();
    domain.restore();
    execute();
    go_on_with(domain);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free_keyval(&key);
}

// MPI's parts for files keep attributes of their own, which they look for later.
HAZARD(attributes_of_mpi_itself_stay) {
    MPI_Comm before = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_SELF, &before);
    const auto use = [](MPI_Comm comm) {
        const std::string name = "attributes_" + std::to_string(world_rank());
        MPI_File file = MPI_FILE_NULL;
        MPI_File_open(comm, name.c_str(),
                      MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                      &file);
        MPI_Datatype every_other = MPI_DATATYPE_NULL;
        MPI_Type_vector(4, 1, 2, MPI_INT, &every_other);
        MPI_Type_commit(&every_other);
        MPI_File_set_view(file, 0, MPI_INT, every_other, "native", MPI_INFO_NULL);
        const Numbers out = numbers(1, 8);
        MPI_File_write_at_all(file, 0, out.data(), 8, MPI_INT, MPI_STATUS_IGNORE);
        MPI_Type_free(&every_other);
        Numbers in(8);
        MPI_File_read_at_all(file, 0, in.data(), 8, MPI_INT, MPI_STATUS_IGNORE);
        CHECK(in == out);
        MPI_File_close(&file);
    };
    Domain domain;
    const auto execute = [&] {
        MPI_Comm kept = before;
        use(kept);
        MPI_Comm_free(&kept);
        MPI_Comm made = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_SELF, &made);
        use(made);
        MPI_Comm_free(&made);
    };
    for (int i = 0; i < 3; ++i) {
        execute();
        domain.restore();
    }
    execute();
    domain.advance();
}

} // namespace callbacks
