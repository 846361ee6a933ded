// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Objects that the program frees while something still needs them.
#include "types.h"

#include <cstdlib>

namespace freed_objects {

namespace {

Numbers matrix_with_column(const Numbers &column, const Numbers &others) {
    Numbers matrix = others;
    for (size_t i = 0; i < rows; ++i) {
        matrix[i * columns] = column[i];
    }
    return matrix;
}

MPI_Request start_receive_and_free_type(Numbers &matrix) {
    MPI_Datatype type = column_type();
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(matrix.data(), 1, type, 1, 1, MPI_COMM_WORLD, &request);
    MPI_Type_free(&type);
    return request;
}

} // namespace

HAZARD(type_freed_while_a_receive_is_pending) {
    if (world_rank() == 1) {
        send_on_signal(numbers(1, rows), 1);
        return;
    }
    const Numbers before = numbers(2, rows * columns);
    Numbers matrix = before;
    Domain domain;
    domain.keep(matrix);
    start_receive_and_free_type(matrix);
    domain.restore();
    const auto complete = [&] {
        MPI_Request request = start_receive_and_free_type(matrix);
        make_other_types();
        signal(1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(matrix == matrix_with_column(numbers(1, rows), before));
    };
    complete();
    destroy(matrix);
    domain.restore();
    complete();
}

// The receive is older than the CD, and so is the freeing, which nobody put off.
HAZARD(type_freed_before_the_cd) {
    if (world_rank() == 1) {
        send_on_signal(numbers(1, rows), 1);
        return;
    }
    const Numbers before = numbers(2, rows * columns);
    Numbers matrix = before;
    MPI_Request request = start_receive_and_free_type(matrix);
    make_other_types();
    Domain domain;
    domain.keep(matrix);
    const cd_addrspec handle = {&request, sizeof request, READ_WRITE, GLOBAL};
    CHECK(add_to_cd_via_copy(domain.handle(), handle, 1) == SUCCESS);
    const auto complete = [&] {
        signal(1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(matrix == matrix_with_column(numbers(1, rows), before));
    };
    complete();
    destroy(matrix);
    domain.restore();
    complete();
}

HAZARD(type_freed_while_a_send_is_pending) {
    if (world_rank() == 1) {
        await(0);
        CHECK(receive(rows, 0, 1) == numbers(1, rows));
        return;
    }
    Numbers matrix = matrix_with_column(numbers(1, rows), numbers(2, rows * columns));
    Domain domain;
    domain.keep(matrix);
    const auto start = [&] {
        MPI_Datatype type = column_type();
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Issend(matrix.data(), 1, type, 1, 1, MPI_COMM_WORLD, &request);
        MPI_Type_free(&type);
        return request;
    };
    start();
    destroy(matrix);
    domain.restore();
    MPI_Request request = start();
    make_other_types();
    signal(1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

HAZARD(communicator_freed_while_a_receive_is_pending) {
    Numbers buffer = numbers(9, eager);
    Domain domain;
    domain.keep(buffer);
    const auto start = [&] {
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Request request = MPI_REQUEST_NULL;
        if (world_rank() == 0) {
            MPI_Irecv(buffer.data(), eager, MPI_INT, 1, 1, comm, &request);
            MPI_Comm_free(&comm);
        } else {
            await(0);
            MPI_Send(numbers(1, eager).data(), eager, MPI_INT, 0, 1, comm);
            MPI_Comm_free(&comm);
        }
        return request;
    };
    MPI_Request request = start();
    if (world_rank() == 1) {
        return;
    }
    domain.restore();
    request = start();
    signal(1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(buffer == numbers(1, eager));
}

// MPI goes on with what was started on it, but nothing new can be made on it.
HAZARD(persistent_send_on_a_communicator_that_is_gone) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Request request = MPI_REQUEST_NULL;
    Numbers data = numbers(world_rank(), eager);
    if (world_rank() == 1) {
        MPI_Recv_init(data.data(), eager, MPI_INT, 0, 1, comm, &request);
    } else {
        MPI_Send_init(data.data(), eager, MPI_INT, 1, 1, comm, &request);
    }
    MPI_Comm_free(&comm);
    {
        Domain domain;
        domain.keep(data);
        const auto exchange = [&] {
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(data == numbers(0, eager));
        };
        exchange();
        domain.restore();
        exchange();
    }
    MPI_Request_free(&request);
}

// Nobody can post it again, so nobody takes it back.
HAZARD(receive_on_a_communicator_that_is_gone) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (world_rank() == 1) {
        await(0);
        MPI_Send(numbers(1, eager).data(), eager, MPI_INT, 0, 1, comm);
        MPI_Comm_free(&comm);
        signal(0);
        return;
    }
    setenv("CD_QUIESCE_TIMEOUT", "0.1", 1);
    Numbers buffer(eager);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(buffer.data(), eager, MPI_INT, 1, 1, comm, &request);
    MPI_Comm_free(&comm);
    Domain domain;
    CHECK(restore_cd(domain.handle()) != SUCCESS);
    CHECK(cd_last_error() == CD_ERROR_LOG_PENDING);
    signal(1);
    await(1);
    domain.restore();
    signal(1);
    await(1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(buffer == numbers(1, eager));
}

HAZARD(ten_thousand_types_freed) {
    Numbers state = numbers(9, eager);
    Domain domain;
    domain.keep(state);
    const auto make_and_free = [] {
        for (int i = 0; i < 10000; ++i) {
            MPI_Datatype type = column_type();
            MPI_Type_free(&type);
        }
    };
    make_and_free();
    domain.restore();
    make_and_free();
    make_and_free();
}

} // namespace freed_objects
