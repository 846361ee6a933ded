// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Calls that fail, and whose errors the program wants to see.
#include "hazard.h"

#include <string>

namespace errors {

namespace {

int class_of(int error) {
    int error_class = MPI_SUCCESS;
    MPI_Error_class(error, &error_class);
    return error_class;
}

} // namespace

// The logger looks at a type before MPI does, and the error is the communicator's all the same.
HAZARD(type_that_is_not_committed_is_an_error_of_the_communicator) {
    if (world_rank() == 1) {
        return;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int lengths[] = {1, 1};
    const int places[] = {0, 1};
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    MPI_Type_indexed(2, lengths, places, MPI_INT, &pair);
    Numbers buffer = numbers(1, 2);
    Domain domain;
    domain.keep(buffer);
    const auto fail = [&] {
        CHECK(class_of(MPI_Send(buffer.data(), 1, pair, 1, 1, MPI_COMM_WORLD)) == MPI_ERR_TYPE);
        CHECK(class_of(MPI_Recv(buffer.data(), 1, pair, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) ==
              MPI_ERR_TYPE);
    };
    fail();
    domain.restore();
    fail();
    // What was found out about it holds when it is committed.
    MPI_Type_commit(&pair);
    const Numbers sent = numbers(2, 2);
    MPI_Sendrecv(sent.data(), 2, MPI_INT, 0, 2, buffer.data(), 1, pair, 0, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(buffer == sent);
    MPI_Type_free(&pair);
}

#ifdef MPICH // the other one raises it on the communicator, and the program ends
namespace {

// Says so to that of all processes, which returns errors here, though the call's own does not.
void split_to_nowhere() {
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    CHECK(class_of(MPI_Comm_split(own, 0, 0, nullptr)) == MPI_ERR_ARG);
    MPI_Comm_free(&own);
}

} // namespace
#endif

HAZARD(error_that_is_raised_elsewhere_than_on_the_communicator_ends_no_replay) {
    if (world_rank() == 1) {
        return;
    }
#ifdef MPICH
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    Domain domain;
    split_to_nowhere();
    domain.restore();
    split_to_nowhere();
#endif
}

// To know what is sent, the logger packs it.
HAZARD(type_in_another_order_that_is_not_committed_ends_no_program) {
    if (world_rank() == 1) {
        return;
    }
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_SELF, &own); // MPI_COMM_SELF itself ends programs
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    const int lengths[] = {1, 1};
    const int places[] = {1, 0};
    MPI_Datatype swapped = MPI_DATATYPE_NULL;
    MPI_Type_indexed(2, lengths, places, MPI_INT, &swapped);
    Numbers buffer = numbers(1, 2);
    Domain domain;
    domain.keep(buffer);
    const auto fail = [&] {
        CHECK(class_of(MPI_Send(buffer.data(), 1, swapped, 0, 1, own)) == MPI_ERR_TYPE);
        CHECK(class_of(MPI_Bsend(buffer.data(), 1, swapped, 0, 1, own)) == MPI_ERR_TYPE);
        MPI_Request request = MPI_REQUEST_NULL;
        CHECK(class_of(MPI_Isend(buffer.data(), 1, swapped, 0, 1, own, &request)) == MPI_ERR_TYPE);
        CHECK(class_of(MPI_Bcast(buffer.data(), 1, swapped, 0, own)) == MPI_ERR_TYPE);
    };
    fail();
    domain.restore();
    fail();
    MPI_Type_free(&swapped);
    MPI_Comm_free(&own);
}

// Whose own errors are returned, while those of all processes end the program. To MPICH those of
// messages from others are of all processes, and to Open MPI those of messages to itself are none.
HAZARD(error_of_a_completion_that_a_communicator_returns_ends_no_replay) {
#ifdef MPICH
    const int source = 0;
#else
    const int source = 1;
#endif
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Comm_dup(source == 0 ? MPI_COMM_SELF : MPI_COMM_WORLD, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    const Numbers long_message = numbers(1, 2);
    const auto send_it = [&] { MPI_Send(long_message.data(), 2, MPI_INT, 0, 1, own); };
    if (world_rank() == 1) {
        if (source == 1) {
            send_it();
        }
        MPI_Comm_free(&own);
        return;
    }
    Numbers buffer(1);
    Domain domain;
    const auto fail = [&] {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Irecv(buffer.data(), 1, MPI_INT, source, 1, own, &request);
        if (source == 0) {
            send_it();
        }
        CHECK(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE);
    };
    fail();
    domain.restore();
    fail();
    MPI_Comm_free(&own);
}

namespace {

int handler_calls = 0;
void count_calls(MPI_Comm *, int *, ...) { ++handler_calls; }

template <typename Call> int one_error_of(const Call &call) {
    const int before = handler_calls;
    const int error = call();
    CHECK(error != MPI_SUCCESS);
    CHECK(handler_calls == before + 1);
    return class_of(error);
}

// The logger asks MPI about each of these before the call is made. Returns their errors.
Numbers give_what_is_none(int key_of_types) {
    Numbers errors;
    const auto expect_one_error = [&](const auto &call) { errors.push_back(one_error_of(call)); };
    expect_one_error([] {
        const std::string key(MPI_MAX_INFO_KEY + 1, 'k');
        MPI_Info info = MPI_INFO_NULL;
        MPI_Info_create(&info);
        const int result = MPI_Info_set(info, key.c_str(), "value");
        MPI_Info_free(&info);
        return result;
    });
    expect_one_error([=] { return MPI_Comm_set_attr(MPI_COMM_SELF, key_of_types, nullptr); });
    expect_one_error([] { return MPI_Comm_set_name(MPI_COMM_NULL, "none"); });
    expect_one_error([] { return MPI_Comm_set_attr(MPI_COMM_SELF, MPI_KEYVAL_INVALID, nullptr); });
    expect_one_error([] { return MPI_Comm_delete_attr(MPI_COMM_SELF, MPI_KEYVAL_INVALID); });
    expect_one_error([] { return MPI_Type_set_attr(MPI_INT, MPI_KEYVAL_INVALID, nullptr); });
    expect_one_error([=] { return MPI_Type_set_attr(MPI_DATATYPE_NULL, key_of_types, nullptr); });
    expect_one_error([] {
        const int number = 1;
        return MPI_Put(&number, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_WIN_NULL);
    });
    expect_one_error([] { return MPI_Win_fence(0, MPI_WIN_NULL); });
#ifdef MPICH // which looks at handles without following them
    expect_one_error([] {
        auto comm = static_cast<MPI_Comm>(MPI_INT);
        return MPI_Comm_disconnect(&comm);
    });
    expect_one_error([] {
        auto win = static_cast<MPI_Win>(MPI_INT);
        return MPI_Win_free(&win);
    });
    expect_one_error([] { return MPI_Win_fence(0, static_cast<MPI_Win>(MPI_INT)); });
    expect_one_error([] {
        auto comm = static_cast<MPI_Comm>(MPI_INT);
        return MPI_Comm_free(&comm);
    });
    expect_one_error([] {
        auto type = static_cast<MPI_Datatype>(MPI_COMM_WORLD);
        return MPI_Type_free(&type);
    });
    expect_one_error([] {
        auto group = static_cast<MPI_Group>(MPI_INT);
        return MPI_Group_free(&group);
    });
    expect_one_error([] {
        auto info = static_cast<MPI_Info>(MPI_INT);
        return MPI_Info_free(&info);
    });
    expect_one_error([] {
        const int number = 1;
        int all = 0;
        const auto comm = static_cast<MPI_Comm>(MPI_INT);
        return MPI_Allgather(&number, 1, MPI_INT, &all, 1, MPI_INT, comm);
    });
    expect_one_error([] {
        int number = 1;
        const auto type = static_cast<MPI_Datatype>(MPI_COMM_WORLD);
        return MPI_Bcast(&number, 1, type, 0, MPI_COMM_SELF);
    });
#endif
    return errors;
}

} // namespace

// Where the program waits for it, and not in the restore.
HAZARD(error_handler_of_a_truncated_receive_pending_is_called_once) {
    MPI_Comm both = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &both);
    if (world_rank() == 1) {
        const Numbers data = numbers(1, eager);
        await(0);
        MPI_Send(data.data(), eager, MPI_INT, 0, 1, both);
        signal(0);
    } else {
        MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
        MPI_Comm_create_errhandler(count_calls, &handler);
        MPI_Comm_set_errhandler(both, handler);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#ifdef OPEN_MPI
        const int times = 1;
#else // which tells that of MPI_COMM_WORLD
        const int times = 0;
#endif
        Numbers buffer = numbers(9, eager);
        Domain domain;
        domain.keep(buffer);
        handler_calls = 0;
        const auto start = [&] {
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Irecv(buffer.data(), eager / 2, MPI_INT, 1, 1, both, &request);
            signal(1);
            await(1);
            return request;
        };
        start();
        for (int i = 0; i < 2; ++i) {
            domain.restore();
            MPI_Request request = start();
            CHECK(handler_calls == 0);
            if (i > 0) {
                MPI_Status status;
                CHECK(class_of(MPI_Wait(&request, &status)) == MPI_ERR_TRUNCATE);
                CHECK(status.MPI_SOURCE == 1 && status.MPI_TAG == 1);
                CHECK(handler_calls == times);
            }
        }
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        MPI_Errhandler_free(&handler);
    }
    MPI_Comm_free(&both);
}

// The program's error handler is called in the re-execution, too, and once for each error.
HAZARD(error_handler_is_called_again) {
    if (world_rank() == 1) {
        send(numbers(1, eager), 0, 1);
        return;
    }
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(count_calls, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler); // of what has no communicator, in some MPIs
    int key = MPI_KEYVAL_INVALID;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, nullptr);
    const Numbers without_log = give_what_is_none(key);
    handler_calls = 0;
    Numbers buffer = numbers(9, eager);
    Domain domain;
    domain.keep(buffer);
    const auto fail = [&] {
        MPI_Recv(buffer.data(), eager / 2, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    };
    fail();
    CHECK(handler_calls == 1);
    CHECK(give_what_is_none(key) == without_log);
    handler_calls = 0;
    domain.restore();
    fail();
    CHECK(handler_calls == 1);
    CHECK(give_what_is_none(key) == without_log);
    MPI_Type_free_keyval(&key);
    MPI_Errhandler_free(&handler);
}

namespace {

int file_errors = 0;
void count_file_errors(MPI_File *, int *, ...) { ++file_errors; }

} // namespace

// Errors with files leave the program alive, unless it wants otherwise.
HAZARD(file_that_is_not_there) {
    Numbers state(eager);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_File_create_errhandler(count_file_errors, &handler);
    Domain domain;
    domain.keep(state);
    const auto open = [handler] {
        MPI_File_set_errhandler(MPI_FILE_NULL, handler);
        file_errors = 0;
        MPI_File file = MPI_FILE_NULL;
        CHECK(MPI_File_close(&file) != MPI_SUCCESS);
        CHECK(file_errors == 1);
        MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
        const int error =
            MPI_File_open(MPI_COMM_SELF, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
        CHECK(error != MPI_SUCCESS);
        return error;
    };
    const int error = open();
    domain.restore();
    CHECK(open() == error);
    MPI_Errhandler_free(&handler);
}

// The program keeps none of its own handles to the handler: MPI alone has it.
HAZARD(handler_of_no_file_is_called_again) {
    Domain domain;
    const auto open = [] {
        MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
        MPI_File_create_errhandler(count_file_errors, &handler);
        MPI_File_set_errhandler(MPI_FILE_NULL, handler);
        MPI_Errhandler_free(&handler);
        file_errors = 0;
        MPI_File file = MPI_FILE_NULL;
        CHECK(MPI_File_open(MPI_COMM_SELF, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL,
                            &file) != MPI_SUCCESS);
        CHECK(file_errors == 1);
    };
    open();
    for (int i = 0; i < 3; ++i) {
        domain.restore();
        open();
    }
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
}

} // namespace errors
