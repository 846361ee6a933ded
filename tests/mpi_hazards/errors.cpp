// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Calls that fail, and whose errors the program wants to see.
#include "hazard.h"

namespace errors {

namespace {

int class_of(int error) {
    int error_class = MPI_SUCCESS;
    MPI_Error_class(error, &error_class);
    return error_class;
}

} // namespace

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
        CHECK(class_of(MPI_Recv(buffer.data(), 1, swapped, 0, 1, own, MPI_STATUS_IGNORE)) ==
              MPI_ERR_TYPE);
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
#if defined MPICH_NUMVERSION && MPICH_NUMVERSION < 40100000 // which calls that of MPI_COMM_WORLD
        const int times = 0;
#else
        const int times = 1;
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

// Errors with files leave the program alive, unless it wants otherwise.
HAZARD(file_that_is_not_there) {
    Numbers state(eager);
    Domain domain;
    domain.keep(state);
    const auto open = [] {
        MPI_File file = MPI_FILE_NULL;
        CHECK(MPI_File_close(&file) != MPI_SUCCESS);
        const int error =
            MPI_File_open(MPI_COMM_SELF, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
        CHECK(error != MPI_SUCCESS);
        return error;
    };
    const int error = open();
    domain.restore();
    CHECK(open() == error);
}

} // namespace errors
