// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Windows whose owner is restored, or has begun to access others', while the others go on.
#include "hazard.h"

#include <cstdlib>
#include <thread>

namespace {

constexpr size_t large = 1 << 16;

MPI_Win window_over(Numbers &memory) {
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_create(memory.data(), static_cast<MPI_Aint>(memory.size() * sizeof(int)), sizeof(int),
                   MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    return window;
}

void put(const Numbers &data, int to, size_t at, MPI_Win window) {
    const int count = static_cast<int>(data.size());
    MPI_Put(data.data(), count, MPI_INT, to, static_cast<MPI_Aint>(at), count, MPI_INT, window);
}

void get(Numbers &data, int from, size_t at, MPI_Win window) {
    const int count = static_cast<int>(data.size());
    MPI_Get(data.data(), count, MPI_INT, from, static_cast<MPI_Aint>(at), count, MPI_INT, window);
}

Numbers part(const Numbers &memory, size_t first, size_t count) {
    return {memory.begin() + static_cast<std::ptrdiff_t>(first),
            memory.begin() + static_cast<std::ptrdiff_t>(first + count)};
}

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

// Gets and puts have begun, and their epoch has not ended: MPI may use the memory at any time, but
// the re-execution has other buffers, and what was there before in the old ones.
HAZARD(accesses_under_way_at_the_restore) {
    Numbers memory = numbers(world_rank(), 2 * large);
    MPI_Win window = window_over(memory);
    MPI_Win_fence(0, window);
    if (world_rank() == 1) {
        MPI_Win_fence(0, window);
        CHECK(part(memory, 0, large) == numbers(7, large));
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
        MPI_Win_free(&window);
        return;
    }
    Numbers sent = numbers(6, large);
    Numbers got = numbers(8, large);
    Numbers got_again = numbers(9, large);
    {
        Domain domain;
        domain.keep(sent);
        domain.keep(got);
        const auto begin = [&](Numbers &into) {
            set(sent, numbers(7, large));
            put(sent, 1, 0, window);
            get(into, 1, large, window);
        };
        begin(got);
        destroy(sent);
        destroy(got);
        domain.restore();
        begin(got_again);
        CHECK(got == numbers(8, large));
        domain.restore();
        begin(got_again);
        MPI_Win_fence(0, window);
        CHECK(got_again == part(numbers(1, 2 * large), large, large));
        CHECK(got == numbers(8, large));
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
        destroy(got_again);
        domain.restore();
        begin(got_again);
        MPI_Win_fence(0, window);
        CHECK(got_again == part(numbers(1, 2 * large), large, large));
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    }
    MPI_Win_free(&window);
}

// A read that the child's log does not begin has ended before the child is restored.
HAZARD(flush_ends_a_read_of_the_parent) {
    Numbers memory = numbers(world_rank(), eager);
    MPI_Win window = window_over(memory);
    MPI_Win_lock_all(0, window);
    if (world_rank() == 0) {
        const int count = static_cast<int>(eager);
        Numbers read(eager);
        MPI_Request request = MPI_REQUEST_NULL;
        Domain parent;
        MPI_Rget(read.data(), count, MPI_INT, 1, 0, count, MPI_INT, window, &request);
        {
            Domain child(parent.handle());
            for (int i = 0; i < 3; ++i) {
                MPI_Win_flush(1, window);
                CHECK(read == numbers(1, eager));
                destroy(read);
                if (i < 2) {
                    child.restore();
                }
            }
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

// A get from before the CD would write into memory that the restore writes, too.
HAZARD(restore_is_refused_while_an_older_get_is_under_way) {
    Numbers memory = numbers(world_rank(), eager);
    MPI_Win window = window_over(memory);
    MPI_Win_fence(0, window);
    Numbers got(eager);
    if (world_rank() == 0) {
        get(got, 1, 0, window);
        Domain domain;
        domain.keep(got);
        MPI_Barrier(MPI_COMM_SELF);
        CHECK(restore_cd(domain.handle()) == FAILURE);
        CHECK(cd_last_error() == CD_ERROR_LOG_PENDING);
        MPI_Win_fence(0, window);
        CHECK(got == numbers(1, eager));
        destroy(got);
        domain.restore();
        MPI_Barrier(MPI_COMM_SELF);
        MPI_Win_fence(0, window);
        CHECK(got == numbers(1, eager));
    } else {
        MPI_Win_fence(0, window);
    }
    MPI_Win_free(&window);
}

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
        put(numbers(seed, eager), 0, 0, window);
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

// The window is older than the CD and freed in it, and another one has got its handle.
HAZARD(older_window_is_freed_inside) {
    Numbers memory = numbers(world_rank(), eager);
    Numbers other = numbers(world_rank() + 2, eager);
    MPI_Win window = window_over(memory);
    const Numbers sent = numbers(40 + world_rank(), 2);
    const auto go = [&] {
        MPI_Win_fence(0, window);
        put(sent, 1 - world_rank(), 3, window);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
        CHECK(part(memory, 3, 2) == numbers(41 - world_rank(), 2));
        MPI_Win_free(&window);
        MPI_Win second = window_over(other);
        MPI_Win_fence(0, second);
        put(sent, 1 - world_rank(), 5, second);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, second);
        CHECK(part(other, 5, 2) == numbers(41 - world_rank(), 2));
        MPI_Win_free(&second);
        CHECK(window == MPI_WIN_NULL && second == MPI_WIN_NULL);
    };
    if (world_rank() == 1) {
        go();
        return;
    }
    Domain domain;
    domain.keep(memory);
    domain.keep(other);
    const MPI_Win handle = window;
    go();
    for (int i = 0; i < 2; ++i) {
        window = handle;
        destroy(memory);
        destroy(other);
        domain.restore();
        go();
    }
}

// What a child's epochs have brought is there when its parent goes back.
HAZARD(epochs_of_a_committed_child) {
    Numbers memory = numbers(world_rank(), eager);
    MPI_Win window = window_over(memory);
    const auto exchange = [&](int seed) {
        MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
        put(numbers(seed + world_rank(), 2), 1 - world_rank(), 3, window);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
        CHECK(part(memory, 3, 2) == numbers(seed + 1 - world_rank(), 2));
    };
    if (world_rank() == 1) {
        for (const int seed : {50, 52, 54}) {
            exchange(seed);
        }
        MPI_Win_free(&window);
        return;
    }
    {
        Domain parent;
        parent.keep(memory);
        const auto go = [&](bool fail) {
            exchange(50);
            Domain child(parent.handle());
            child.keep(memory);
            exchange(52);
            if (fail) {
                destroy(memory);
                child.restore();
                exchange(52);
            }
        };
        go(true);
        destroy(memory);
        parent.restore();
        go(false);
        exchange(54);
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
            put(numbers(seed, 2), 1 - world_rank(), 0, window);
            MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
            CHECK(part(memory, 0, 2) == numbers(seed, 2));
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
    }
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

// Begun in the parent, waited for in the child, and the other way round; each is restored.
HAZARD(reads_with_a_request_across_nested_cds) {
    Numbers memory = numbers(world_rank(), 2 * eager);
    MPI_Win window = window_over(memory);
    MPI_Win_lock_all(0, window);
    if (world_rank() == 0) {
        const int count = static_cast<int>(eager);
        Numbers outer(eager);
        Numbers inner(eager);
        Domain parent;
        parent.keep(outer);
        parent.keep(inner);
        const auto work = [&](bool restores_child) {
            MPI_Request from_parent = MPI_REQUEST_NULL;
            MPI_Request from_child = MPI_REQUEST_NULL;
            MPI_Rget(outer.data(), count, MPI_INT, 1, 0, count, MPI_INT, window, &from_parent);
            {
                Domain child(parent.handle());
                const MPI_Request before = from_parent;
                for (int i = 0; i < (restores_child ? 3 : 1); ++i) {
                    from_parent = before;
                    MPI_Rget(inner.data(), count, MPI_INT, 1, count, count, MPI_INT, window,
                             &from_child);
                    MPI_Wait(&from_parent, MPI_STATUS_IGNORE);
                    CHECK(outer == part(numbers(1, 2 * eager), 0, eager));
                    if (restores_child && i < 2) {
                        destroy(outer);
                        child.restore();
                    }
                }
            }
            MPI_Wait(&from_child, MPI_STATUS_IGNORE);
            CHECK(inner == part(numbers(1, 2 * eager), eager, eager));
        };
        work(true);
        for (int i = 0; i < 2; ++i) {
            destroy(outer);
            destroy(inner);
            parent.restore();
            work(false);
        }
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

HAZARD_IN_THREADS(reads_with_a_request_in_threads) {
    Numbers memory = numbers(world_rank(), eager);
    MPI_Win window = window_over(memory);
    MPI_Win_lock_all(0, window);
    if (world_rank() == 0) {
        const auto read_again_and_again = [&](const char *name) {
            const int count = static_cast<int>(eager);
            Numbers read(eager);
            Domain own(nullptr, name);
            own.keep(read);
            for (int last = 1; last < 20; ++last) {
                for (int i = 0; i < last; ++i) {
                    MPI_Request request = MPI_REQUEST_NULL;
                    MPI_Rget(read.data(), count, MPI_INT, 1, 0, count, MPI_INT, window, &request);
                    if (i < last - 1 || last % 3 != 0) { // else it is under way at the restore
                        MPI_Wait(&request, MPI_STATUS_IGNORE);
                        CHECK(read == numbers(1, eager));
                    }
                }
                destroy(read);
                own.restore();
            }
        };
        std::thread other(read_again_and_again, "other");
        read_again_and_again("one");
        other.join();
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

// Rank 1 has attached memory, and does not log.
HAZARD(memory_attached_elsewhere_is_read_and_written) {
    MPI_Win window = MPI_WIN_NULL;
    MPI_Aint place = 0;
    if (world_rank() == 1) {
        Numbers memory = numbers(5, eager);
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_attach(window, memory.data(), memory.size() * sizeof(int));
        MPI_Get_address(memory.data(), &place);
        MPI_Send(&place, 1, MPI_AINT, 0, 1, MPI_COMM_WORLD);
        await(0);
        MPI_Win_detach(window, memory.data());
        MPI_Win_free(&window);
        CHECK(memory == numbers(6, eager));
        return;
    }
    Numbers seen = numbers(9, eager);
    {
        Domain domain;
        domain.keep(seen);
        const auto change = [&] {
            MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
            MPI_Recv(&place, 1, MPI_AINT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
            MPI_Get(seen.data(), eager, MPI_INT, 1, place, eager, MPI_INT, window);
            MPI_Win_unlock(1, window);
            CHECK(seen == numbers(5, eager));
            const Numbers changed = numbers(6, eager);
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
            MPI_Put(changed.data(), eager, MPI_INT, 1, place, eager, MPI_INT, window);
            MPI_Win_unlock(1, window);
        };
        change();
        for (int i = 0; i < 2; ++i) {
            destroy(seen);
            domain.restore();
            CHECK(seen == numbers(9, eager));
            change();
        }
    }
    signal(1);
    MPI_Win_free(&window);
}

HAZARD(window_with_attached_memory_is_refused) {
    MPI_Win window = MPI_WIN_NULL;
    Numbers memory(eager);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_attach(window, memory.data(), memory.size() * sizeof(int));
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
