// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// Windows whose owner is restored while the others go on.
#include "siblings.h"
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

namespace {

// A window of both ranks, into whose memory the rank puts something itself.
struct OwnWindow {
    explicit OwnWindow(int seed) : data(numbers(seed, 4)) {}

    void make() {
        window = window_over(memory);
        MPI_Win_fence(0, window);
        if (world_rank() == 0) {
            put(data, 0, 0, window);
        }
        MPI_Win_fence(0, window);
        CHECK(world_rank() == 1 || memory == data);
    }
    void free() { CHECK(MPI_Win_free(&window) == MPI_SUCCESS); }

    Numbers data;
    Numbers memory = Numbers(4);
    MPI_Win window = MPI_WIN_NULL;
};

} // namespace

namespace {

// What MPI tells of a window.
struct Attributes {
    explicit Attributes(MPI_Win window)
        : base(ask<void>(window, MPI_WIN_BASE)), size(ask<MPI_Aint>(window, MPI_WIN_SIZE)),
          unit(ask<int>(window, MPI_WIN_DISP_UNIT)),
          flavour(ask<int>(window, MPI_WIN_CREATE_FLAVOR)), model(ask<int>(window, MPI_WIN_MODEL)) {
    }

    template <typename Value> static Value *ask(MPI_Win window, int key) {
        Value *value = nullptr;
        int present = 0;
        MPI_Win_get_attr(window, key, &value, &present);
        CHECK(present != 0);
        return value;
    }

    void are_those_of(const Numbers &memory, int its_model) const {
        CHECK(base == memory.data());
        CHECK(*size == static_cast<MPI_Aint>(memory.size() * sizeof(int)));
        CHECK(*unit == sizeof(int));
        CHECK(*flavour == MPI_WIN_FLAVOR_CREATE);
        CHECK(*model == its_model);
    }

    void *base;
    MPI_Aint *size;
    int *unit;
    int *flavour;
    int *model;
};

// MPI writes it to where it had a window that it has freed.
void make_other_window() {
    char *memory = nullptr;
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_allocate(large, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    std::vector<std::vector<char>> more;
    for (size_t size = 16; size < 4096; size += 16) {
        more.emplace_back(size, 'x');
    }
    MPI_Win_free(&window);
}

// One window is older than the CD, the other one is made in it; both are freed in it.
void ask_windows_that_are_freed_inside() {
    Numbers memory = numbers(world_rank(), eager);
    Numbers other = numbers(world_rank(), 2 * eager);
    MPI_Win older = window_over(memory);
    const Attributes before(older);
    const int model = *before.model;
    const auto go = [&] {
        before.are_those_of(memory, model);
        Attributes(older).are_those_of(memory, model);
        MPI_Win newer = window_over(other);
        Attributes(newer).are_those_of(other, model);
        MPI_Win_free(&older);
        MPI_Win_free(&newer);
        make_other_window();
    };
    if (world_rank() == 1) {
        MPI_Win newer = window_over(other);
        MPI_Win_free(&older);
        MPI_Win_free(&newer);
        make_other_window();
        return;
    }
    Domain domain;
    const MPI_Win handle = older;
    go();
    for (int i = 0; i < 2; ++i) {
        older = handle;
        domain.restore();
        go();
    }
}

} // namespace

// Where MPI has told them, MPI has something else meanwhile.
HAZARD(attributes_of_a_window_that_is_freed_inside) { ask_windows_that_are_freed_inside(); }
HAZARD(attributes_of_a_direct_window_that_is_freed_inside) {
    setenv("CD_WINDOWS", "direct", 1);
    ask_windows_that_are_freed_inside();
}

// Each means its own by a handle that both have had, whoever is restored.
HAZARD_IN_THREADS(windows_of_siblings) {
    OwnWindow one(70);
    OwnWindow other(71);
    if (world_rank() == 1) {
        one.make();
        one.free();
        other.make();
        other.free();
        return;
    }
    Siblings both;
    Sibling &first = both.first;
    Sibling &second = both.second;
    const auto make_one = [&] { one.make(); };
    const auto make_other = [&] { other.make(); };
    const auto free_one = [&] { one.free(); };
    const auto free_other = [&] { other.free(); };
    both.begin();
    first.run(make_one);
    [[maybe_unused]] const MPI_Win handle = one.window;
    first.run(free_one);
    second.run(make_other);
#ifdef MPICH // has numbers for handles, and gives the one that was freed last
    CHECK(other.window == handle);
#endif
    destroy(one.memory);
    destroy(other.memory);
    first.restore();
    first.run(make_one);
    second.restore();
    second.run(make_other);
    first.run(free_one);
    CHECK(other.memory == other.data);
    second.run(free_other);
    both.go_back();
    destroy(one.memory);
    destroy(other.memory);
    first.run(make_one);
    second.run(make_other);
    CHECK(one.memory == one.data);
    first.run(free_one);
    second.run(free_other);
    both.end();
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
