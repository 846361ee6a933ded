// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Memory that runs out while the logger writes.
#include "hazard.h"

#include <cstdlib>
#include <new>

namespace {

// Larger pieces than this are refused in this thread.
thread_local size_t largest_piece = SIZE_MAX;

} // namespace

[[gnu::noinline]] void *operator new(size_t size) {
    void *at = size <= largest_piece ? std::malloc(size) : nullptr;
    if (at == nullptr) {
        throw std::bad_alloc();
    }
    return at;
}
[[gnu::noinline]] void operator delete(void *at) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete(void *at, size_t) noexcept { std::free(at); }

namespace {

// What call returns where this thread gets no larger piece.
template <typename Call> int given_at_most(size_t size, const Call &call) {
    largest_piece = size;
    const int result = call();
    largest_piece = SIZE_MAX;
    return result;
}

bool lacks_calls(cd_handle cd) {
    return restore_cd(cd) != SUCCESS && cd_last_error() == CD_ERROR_LOG_INCOMPLETE;
}

// Every second integer: data of it have to be put into order, which takes memory.
MPI_Datatype pairs_with_gaps() {
    MPI_Datatype pairs = MPI_DATATYPE_NULL;
    MPI_Type_vector(2, 1, 2, MPI_INT, &pairs);
    MPI_Datatype spread = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(pairs, 0, 4 * sizeof(int), &spread);
    MPI_Type_commit(&spread);
    MPI_Type_free(&pairs);
    return spread;
}

} // namespace

// What is sent has to be put into order, to be compared.
HAZARD(call_is_made_once_where_there_is_no_memory_to_record_it) {
    constexpr int elements = 100000;
    if (world_rank() == 1) {
        const Numbers first = receive(2 * elements, 0, 1);
        const Numbers second = receive(1, 0, 1);
        CHECK(first[1] == numbers(4, 3)[2]);
        CHECK(second == numbers(5, 1));
        return;
    }
    MPI_Datatype spread = pairs_with_gaps();
    const Numbers data = numbers(4, 4 * elements);
    Domain domain;
    const int result = given_at_most(
        elements, [&] { return MPI_Send(data.data(), elements, spread, 1, 1, MPI_COMM_WORLD); });
    CHECK(result == MPI_SUCCESS);
    CHECK(lacks_calls(domain.handle()));
    domain.advance();
    send(numbers(5, 1), 1, 1);
    domain.restore();
    send(numbers(5, 1), 1, 1);
    MPI_Type_free(&spread);
}

// A request that nobody knows of would be received into the memory of a re-execution.
HAZARD(nothing_is_restored_where_a_request_could_not_be_noted) {
    if (world_rank() == 1) {
        await(0);
        send(numbers(4, eager), 0, 1);
        return;
    }
    Numbers data(eager);
    Domain domain;
    MPI_Request request = MPI_REQUEST_NULL;
    const int result = given_at_most(
        0, [&] { return MPI_Irecv(data.data(), eager, MPI_INT, 1, 1, MPI_COMM_WORLD, &request); });
    CHECK(result == MPI_SUCCESS);
    domain.advance();
    CHECK(restore_cd(domain.handle()) != SUCCESS);
    signal(1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(data == numbers(4, eager));
}

// MPI has them in a copy.
HAZARD(data_of_a_collective_are_not_lost_without_memory) {
    Numbers data = numbers(world_rank(), eager);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const Domain domain;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(data.data(), eager, MPI_INT, 1, MPI_COMM_WORLD, &request);
    const int result = given_at_most(0, [&] { return MPI_Wait(&request, MPI_STATUS_IGNORE); });
    CHECK(result == MPI_ERR_OTHER);
    CHECK(request != MPI_REQUEST_NULL);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(data == numbers(1, eager));
}
