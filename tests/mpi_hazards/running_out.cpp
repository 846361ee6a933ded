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
    bool refused = false;
    largest_piece = elements;
    try {
        MPI_Recv(buffer.data(), elements, pairs, 1, 1, MPI_COMM_WORLD, &status);
    } catch (const std::bad_alloc &) {
        refused = true;
    }
    largest_piece = SIZE_MAX;
    CHECK(refused);
    std::packaged_task<size_t()> ask([&] { return domain.info().log_length; });
    std::future<size_t> answer = ask.get_future();
    std::thread other(std::move(ask));
    const bool answered = answer.wait_for(std::chrono::seconds(10)) == std::future_status::ready;
    CHECK(answered);
    other.join();
    CHECK(answer.get() > 0);
    MPI_Type_free(&pairs);
    signal(1);
}
