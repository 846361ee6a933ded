// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Windows whose owner is restored while the others go on.
#include "window.h"

#include <cstdlib>

namespace windows {

namespace {

// Others put before and after the restores, into memory that a failure destroys and a restore
// writes.
void restored_in_open_epoch(size_t count) {
    Numbers memory = numbers(world_rank(), 3 * count);
    MPI_Win window = window_over(memory);
    MPI_Win_fence(0, window);
    if (world_rank() == 1) {
        const Numbers earlier = numbers(10, count);
        const Numbers first = numbers(11, count);
        const Numbers second = numbers(12, count);
        put(earlier, 0, 0, window);
        MPI_Win_fence(0, window);
        await(0);
        put(first, 0, 0, window);
        signal(0);
        await(0);
        put(second, 0, count, window);
        signal(0);
        MPI_Win_fence(0, window);
        MPI_Win_free(&window);
        return;
    }
    Domain domain;
    domain.keep(memory);
    const auto until_the_epoch = [&] {
        memory[2 * count] = 5;
        MPI_Win_fence(0, window);
        CHECK(part(memory, 0, count) == numbers(10, count));
        CHECK(memory[2 * count] == 5);
        memory[2 * count] += 1;
    };
    const auto let_them_put = [] {
        signal(1);
        await(1);
    };
    until_the_epoch();
    let_them_put();
    destroy(memory);
    domain.restore();
    until_the_epoch();
    destroy(memory);
    domain.restore();
    until_the_epoch();
    let_them_put();
    let_them_put();
    destroy(memory);
    domain.restore();
    until_the_epoch();
    let_them_put();
    let_them_put();
    MPI_Win_fence(0, window);
    CHECK(part(memory, 0, count) == numbers(11, count));
    CHECK(part(memory, count, count) == numbers(12, count));
    CHECK(memory[2 * count] == 6);
    MPI_Win_free(&window);
}

} // namespace

HAZARD(window_is_exposed_at_the_restore) { restored_in_open_epoch(eager); }
HAZARD(large_window_is_exposed_at_the_restore) { restored_in_open_epoch(large); }

// What the re-execution stores goes to the others, as if nothing had happened.
HAZARD(others_read_what_the_re_execution_stores) {
    Numbers memory = numbers(world_rank(), eager);
    MPI_Win window = window_over(memory);
    Numbers got(eager);
    if (world_rank() == 1) {
        MPI_Win_fence(0, window);
        get(got, 0, 0, window);
        MPI_Win_fence(0, window);
        CHECK(got == numbers(20, eager));
        MPI_Win_fence(0, window);
        get(got, 0, 0, window);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
        CHECK(got == numbers(21, eager));
        MPI_Win_free(&window);
        return;
    }
    {
        Domain domain;
        domain.keep(memory);
        set(memory, numbers(20, eager));
        MPI_Win_fence(0, window);
        destroy(memory);
        domain.restore();
        set(memory, numbers(20, eager));
        MPI_Win_fence(0, window);
        MPI_Win_fence(0, window);
        set(memory, numbers(21, eager));
        MPI_Win_fence(0, window);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    }
    MPI_Win_free(&window);
}

// Others write when they like: what this rank has seen when, a re-execution sees again.
HAZARD(written_by_others_without_this_rank) {
    Numbers memory = numbers(world_rank(), eager);
    MPI_Win window = window_over(memory);
    const auto write = [&](int seed) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        const Numbers written = numbers(seed, eager);
        put(written, 0, 0, window);
        MPI_Win_unlock(0, window);
    };
    if (world_rank() == 1) {
        write(30);
        signal(0);
        await(0);
        write(31);
        signal(0);
        MPI_Win_free(&window);
        return;
    }
    {
        Domain domain;
        domain.keep(memory);
        const auto look = [&] {
            CHECK(memory == numbers(0, eager));
            await(1);
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
            CHECK(memory == numbers(30, eager));
            MPI_Win_unlock(0, window);
        };
        look();
        signal(1);
        await(1);
        destroy(memory);
        domain.restore();
        look();
        signal(1);
        CHECK(memory == numbers(30, eager));
        await(1);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        CHECK(memory == numbers(31, eager));
        MPI_Win_unlock(0, window);
    }
    MPI_Win_free(&window);
}

// Memory into which others put, as into a receive buffer, and which no CD holds. The first put
// changes nothing, so that the second one's data are there when it is replayed.
HAZARD(window_memory_in_no_cd) {
    Numbers memory = numbers(60, eager);
    MPI_Win window = window_over(memory);
    const auto go = [&] {
        for (const int seed : {60, 61, 62}) {
            MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
            const Numbers written = numbers(seed, 2);
            put(written, 1 - world_rank(), 0, window);
            MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
            CHECK(part(memory, 0, 2) == written);
        }
    };
    if (world_rank() == 1) {
        go();
    } else {
        Domain domain;
        go();
        domain.restore();
        go();
    }
    MPI_Win_free(&window);
}

// A window that others write directly cannot be replayed, and a CD that logs says so.
HAZARD(direct_window_is_refused) {
    setenv("CD_WINDOWS", "direct", 1);
    Numbers memory = numbers(world_rank(), eager);
    MPI_Win window = window_over(memory);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    {
        Domain domain;
        int error_class = MPI_SUCCESS;
        MPI_Error_class(MPI_Win_fence(0, window), &error_class);
        CHECK(error_class == MPI_ERR_UNSUPPORTED_OPERATION);
        int value = 0;
        MPI_Error_class(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window), &error_class);
        CHECK(error_class == MPI_ERR_UNSUPPORTED_OPERATION);
        MPI_Error_class(MPI_Win_free(&window), &error_class);
        CHECK(error_class == MPI_ERR_UNSUPPORTED_OPERATION);
    }
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

HAZARD(window_with_attached_memory_is_refused) {
    MPI_Win window = MPI_WIN_NULL;
    Numbers memory(eager);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_attach(window, memory.data(), static_cast<MPI_Aint>(memory.size() * sizeof(int)));
    {
        const Domain domain;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        CHECK(MPI_Win_fence(0, window) != MPI_SUCCESS);
        CHECK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window) != MPI_SUCCESS);
    }
    MPI_Win_fence(0, window);
    MPI_Win_detach(window, memory.data());
    MPI_Win_free(&window);
}

} // namespace windows
