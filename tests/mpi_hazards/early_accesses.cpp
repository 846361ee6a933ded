// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Reads and writes of others' windows that MPI calls complete when their data are not there yet.
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

// Goes to memory that is free.
void use_memory() {
    std::vector<Numbers> used;
    for (size_t count = 1; count < 4 * eager; ++count) {
        used.emplace_back(count, -1);
    }
}

Numbers with_pairs(Numbers memory, const Numbers &data) {
    for (size_t i = 0; i < data.size(); ++i) {
        memory[i / 2 * 4 + i % 2] = data[i];
    }
    return memory;
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

} // namespace

// MPICH says of them that they are complete when their data are not there yet.
HAZARD(pairs_are_there_when_they_are_waited_for) {
    read_pairs([](MPI_Request &request) { MPI_Wait(&request, MPI_STATUS_IGNORE); });
}

HAZARD(pairs_are_there_when_a_test_says_so) {
    read_pairs([](MPI_Request &request) {
        for (int complete = 0; complete == 0;) {
            MPI_Test(&request, &complete, MPI_STATUS_IGNORE);
        }
    });
}

HAZARD(pairs_are_there_when_their_status_says_so) {
    read_pairs([](MPI_Request &request) {
        for (int complete = 0; complete == 0;) {
            MPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
}

// No log has that they were begun.
HAZARD(pairs_read_from_before_the_cd_are_there_when_they_are_waited_for) {
    Numbers memory = numbers(world_rank(), eager);
    MPI_Win window = window_over(memory);
    MPI_Win_lock_all(0, window);
    if (world_rank() == 0) {
        Numbers got = numbers(9, 4 * some_pairs);
        const Numbers there = with_pairs(got, numbers(1, eager));
        const MPI_Request begun = begin_to_read(got, window);
        Domain domain;
        for (int i = 0; i < 3; ++i) {
            MPI_Request request = begun;
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(got == there);
            if (i < 2) {
                set(got, numbers(9, 4 * some_pairs));
                domain.restore();
            }
        }
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
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

HAZARD(pairs_come_without_copies) {
    setenv("CD_SEND_SHADOW", "off", 1);
    read_pairs([](MPI_Request &request) { MPI_Wait(&request, MPI_STATUS_IGNORE); });
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
