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

// Larger pieces than this are refused in this thread, and more of them.
thread_local size_t largest_piece = SIZE_MAX;
thread_local size_t pieces_left = SIZE_MAX;

} // namespace

[[gnu::noinline]] void *operator new(size_t size) {
    const bool is_given = size <= largest_piece && pieces_left > 0;
    pieces_left -= is_given && pieces_left != SIZE_MAX ? 1 : 0;
    void *at = is_given ? std::malloc(size) : nullptr;
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
    const int result = given_at_most(elements, [&] {
        return MPI_Recv(buffer.data(), elements, pairs, 1, 1, MPI_COMM_WORLD, &status);
    });
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

// It goes on, and a restore of what begins behind it does not touch what it sends.
HAZARD(domains_are_restored_where_only_a_send_could_not_be_noted) {
    if (world_rank() == 1) {
        CHECK(receive(eager, 0, 1) == numbers(4, eager));
        return;
    }
    const Numbers data = numbers(4, eager);
    Domain domain;
    MPI_Request request = MPI_REQUEST_NULL;
    const int result = given_at_most(
        0, [&] { return MPI_Isend(data.data(), eager, MPI_INT, 1, 1, MPI_COMM_WORLD, &request); });
    CHECK(result == MPI_SUCCESS);
    CHECK(lacks_calls(domain.handle()));
    domain.advance();
    CHECK(restore_cd(domain.handle()) == SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
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

// The second one's data have to be put into order, for a copy.
HAZARD(all_requests_are_started_or_none_without_memory) {
    constexpr int elements = 100000;
    if (world_rank() == 1) {
        for (int i = 0; i < 2; ++i) {
            CHECK(receive(1, 0, 1) == numbers(4, 1));
            CHECK(receive(2 * elements, 0, 2)[1] == numbers(4, 3)[2]);
        }
        return;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Datatype spread = pairs_with_gaps();
    const Numbers data = numbers(4, 4 * elements);
    MPI_Request requests[2];
    MPI_Send_init(data.data(), 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(data.data(), elements, spread, 1, 2, MPI_COMM_WORLD, &requests[1]);
    {
        const Domain domain;
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    const int result = given_at_most(elements, [&] { return MPI_Startall(2, requests); });
    CHECK(result == MPI_ERR_OTHER);
    CHECK(MPI_Startall(2, requests) == MPI_SUCCESS);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Type_free(&spread);
}

// At whichever piece: MPI has a copy of its memory, or the memory itself.
HAZARD(window_is_used_where_memory_runs_out_while_it_is_made) {
    constexpr size_t more_pieces_than_it_takes = 30;
    for (size_t pieces = 0; pieces < more_pieces_than_it_takes; ++pieces) {
        Numbers memory = numbers(2, 1);
        MPI_Win window = MPI_WIN_NULL;
        pieces_left = pieces;
        MPI_Win_create(memory.data(), sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                       &window);
        pieces_left = SIZE_MAX;
        memory[0] = static_cast<int>(pieces) + world_rank();
        MPI_Win_fence(0, window);
        int others = -1;
        MPI_Get(&others, 1, MPI_INT, 1 - world_rank(), 0, 1, MPI_INT, window);
        MPI_Win_fence(0, window);
        CHECK(others == static_cast<int>(pieces) + 1 - world_rank());
        MPI_Win_free(&window);
    }
}
