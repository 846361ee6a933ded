// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Reads and writes of others' windows that MPI calls complete when their data are not there yet.
#include "complaints.h"
#include "window.h"

#include <functional>

namespace early_accesses {
namespace {

// The first two of every four numbers.
MPI_Datatype pairs(size_t count) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_vector(static_cast<int>(count), 2, 4, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

constexpr size_t some_pairs = eager / 2;

Numbers with_pairs(Numbers memory, const Numbers &data) {
    for (size_t i = 0; i < data.size(); ++i) {
        memory[i / 2 * 4 + i % 2] = data[i];
    }
    return memory;
}

#ifdef MPICH // 4.0 says of such reads that they are complete when their data are not there yet

void read_pairs_in_vain() {
    Numbers memory = numbers(world_rank(), eager);
    MPI_Win window = window_over(memory);
    MPI_Win_lock_all(0, window);
    if (world_rank() == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        Numbers got = numbers(9, 4 * some_pairs);
        MPI_Datatype type = pairs(some_pairs);
        MPI_Request request = MPI_REQUEST_NULL;
        const Domain domain;
        Complaints complaints;
        CHECK(MPI_Rget(got.data(), 1, type, 1, 0, eager, MPI_INT, window, &request) ==
              MPI_ERR_UNSUPPORTED_OPERATION);
        CHECK(complaints.name("Use basic types, or a newer MPICH"));
        MPI_Type_free(&type);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

#else

// Goes to memory that is free.
void use_memory() {
    std::vector<Numbers> used;
    for (size_t count = 1; count < 4 * eager; ++count) {
        used.emplace_back(count, -1);
    }
}

MPI_Request begin_to_read(Numbers &into, MPI_Win window) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype type = pairs(some_pairs);
    MPI_Rget(into.data(), 1, type, 1, 0, eager, MPI_INT, window, &request);
    MPI_Type_free(&type);
    use_memory();
    return request;
}

void read_pairs(const std::function<void(MPI_Request &)> &end) {
    Numbers memory = numbers(world_rank(), eager);
    MPI_Win window = window_over(memory);
    MPI_Win_lock_all(0, window);
    if (world_rank() == 0) {
        const Numbers before = numbers(9, 4 * some_pairs);
        const Numbers there = with_pairs(before, numbers(1, eager));
        Numbers got = before;
        Numbers elsewhere = before;
        Domain domain;
        domain.keep(got);
        domain.keep(elsewhere);
        const auto read = [&](Numbers &into) {
            MPI_Request request = begin_to_read(into, window);
            end(request);
            use_memory();
        };
        // The program may use its memory again; what it stores there stays.
        const auto read_all = [&](Numbers &into) {
            read(into);
            CHECK(into == there);
            into[0] = 7;
            MPI_Win_flush(1, window);
            CHECK(into[0] == 7);
            into[0] = there[0];
            CHECK(into == there);
        };
        begin_to_read(got, window);
        domain.restore();
        begin_to_read(elsewhere, window);
        domain.restore();
        read(got);
        destroy(got);
        domain.restore();
        read_all(elsewhere);
        CHECK(got == before);
        for (int i = 0; i < 2; ++i) {
            destroy(elsewhere);
            domain.restore();
            read_all(got);
            CHECK(elsewhere == before);
        }
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

#endif

} // namespace

HAZARD(reads_with_derived_types_bring_their_data_or_are_refused) {
#ifdef MPICH
    read_pairs_in_vain();
#else
    read_pairs([](MPI_Request &request) { MPI_Wait(&request, MPI_STATUS_IGNORE); });
#endif
}

// A synchronization does not bring once more what the program has got already.
HAZARD(what_is_stored_into_a_read_that_is_complete_stays) {
    Numbers memory = numbers(world_rank(), eager);
    MPI_Win window = window_over(memory);
    MPI_Win_lock_all(0, window);
    if (world_rank() == 0) {
        Numbers got(eager);
        Domain domain;
        domain.keep(got);
        const auto go = [&] {
            const int count = static_cast<int>(eager);
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Rget(got.data(), count, MPI_INT, 1, 0, count, MPI_INT, window, &request);
            for (int complete = 0; complete == 0;) {
                MPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE);
            }
            CHECK(got == numbers(1, eager));
            got[0] = 7;
            MPI_Win_flush(1, window);
            CHECK(got[0] == 7);
            got[1] = 8;
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(got[0] == 7 && got[1] == 8);
        };
        go();
        for (int i = 0; i < 2; ++i) {
            destroy(got);
            domain.restore();
            go();
        }
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

// And of writes, when it has not read all that they write.
HAZARD(many_pairs_are_written) {
    constexpr size_t count = 1 << 18;
    Numbers memory = numbers(world_rank(), 4 * count);
    const Numbers sent = numbers(5, 2 * count);
    MPI_Win window = window_over(memory);
    if (world_rank() == 0) {
        MPI_Win_lock_all(0, window);
        Domain domain;
        const auto write = [&] {
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Datatype type = pairs(count);
            MPI_Rput(sent.data(), 2 * count, MPI_INT, 1, 0, 1, type, window, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            const Numbers other(2 * count, -1); // perhaps where a copy was
        };
        write();
        domain.restore();
        write();
        MPI_Win_flush(1, window);
        MPI_Win_unlock_all(window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank() == 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
        CHECK(memory == with_pairs(numbers(1, 4 * count), sent));
        MPI_Win_unlock(1, window);
    }
    MPI_Win_free(&window);
}

} // namespace early_accesses
