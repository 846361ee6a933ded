// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Memory that runs out while the logger writes.
#include "hazard.h"

#include <chrono>
#include <cstdlib>
#include <future>
#include <new>
#include <thread>

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

bool lacks_calls(cd_handle cd) {
    return restore_cd(cd) != SUCCESS && cd_last_error() == CD_ERROR_LOG_INCOMPLETE;
}

} // namespace

// The last element is only received in part, and putting it into order takes memory.
HAZARD_IN_THREADS(log_is_not_left_locked_without_memory) {
    constexpr int elements = 100000;
    if (world_rank() == 1) {
        send(numbers(4, 2 * elements - 1), 0, 1);
        await(0);
        return;
    }
    MPI_Datatype pairs = MPI_DATATYPE_NULL;
    MPI_Type_vector(2, 1, 2, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    Numbers buffer(4 * elements);
    const Domain domain;
    MPI_Status status;
    MPI_Probe(1, 1, MPI_COMM_WORLD, &status); // the log has all it needs for small entries
    largest_piece = elements;
    const int result = MPI_Recv(buffer.data(), elements, pairs, 1, 1, MPI_COMM_WORLD, &status);
    largest_piece = SIZE_MAX;
    CHECK(result == MPI_SUCCESS);
    CHECK(buffer[2] == numbers(4, 2)[1]);
    std::packaged_task<size_t()> ask([&] { return domain.info().log_length; });
    std::future<size_t> answer = ask.get_future();
    std::thread other(std::move(ask));
    const bool answered = answer.wait_for(std::chrono::seconds(10)) == std::future_status::ready;
    CHECK(answered);
    other.join();
    CHECK(answer.get() > 0);
    CHECK(lacks_calls(domain.handle()));
    MPI_Type_free(&pairs);
    signal(1);
}

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
    MPI_Datatype pairs = MPI_DATATYPE_NULL;
    MPI_Type_vector(2, 1, 2, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    MPI_Datatype spread = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(pairs, 0, 4 * sizeof(int), &spread);
    MPI_Type_commit(&spread);
    const Numbers data = numbers(4, 4 * elements);
    Domain domain;
    largest_piece = elements;
    const int result = MPI_Send(data.data(), elements, spread, 1, 1, MPI_COMM_WORLD);
    largest_piece = SIZE_MAX;
    CHECK(result == MPI_SUCCESS);
    CHECK(lacks_calls(domain.handle()));
    domain.advance();
    send(numbers(5, 1), 1, 1);
    domain.restore();
    send(numbers(5, 1), 1, 1);
    MPI_Type_free(&spread);
    MPI_Type_free(&pairs);
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
    largest_piece = 0;
    const int result = MPI_Irecv(data.data(), eager, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
    largest_piece = SIZE_MAX;
    CHECK(result == MPI_SUCCESS);
    domain.advance();
    CHECK(restore_cd(domain.handle()) != SUCCESS);
    signal(1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(data == numbers(4, eager));
}
