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
HAZARD(call_fails_where_memory_runs_out_and_nothing_is_restored_any_more) {
    constexpr int elements = 100000;
    if (world_rank() == 1) {
        CHECK(receive(1, 0, 1) == numbers(5, 1));
        return;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Datatype spread = pairs_with_gaps();
    const Numbers data = numbers(4, 4 * elements);
    Domain domain;
    const int result = given_at_most(
        elements, [&] { return MPI_Send(data.data(), elements, spread, 1, 1, MPI_COMM_WORLD); });
    CHECK(result == MPI_ERR_OTHER);
    CHECK(restore_cd(domain.handle()) != SUCCESS);
    domain.advance();
    CHECK(restore_cd(domain.handle()) != SUCCESS);
    CHECK(cd_last_error() == CD_ERROR_LOG_PENDING);
    send(numbers(5, 1), 1, 1);
    MPI_Type_free(&spread);
}
