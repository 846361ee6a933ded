// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// One-sided communication: every rank reads and writes the window of the next one.

#include "harness/scenario.h"

namespace one_sided {

namespace {

using namespace cd::scenarios;

#ifdef CD_LARGE_COUNTS
using Unit = MPI_Aint;
#else
using Unit = int;
#endif

constexpr int length = 16;

// A window of ints that this rank has numbered.
class Window {
public:
    Window(Run &run, const Buffer<int> &its_memory) : memory(its_memory) {
        CALL(SIZED(MPI_Win_create)(memory.data(), length * sizeof(int), Unit{sizeof(int)},
                                   MPI_INFO_NULL, MPI_COMM_WORLD, &handle));
        run.out.choice("window", handle);
        CALL(MPI_Win_set_errhandler(handle, MPI_ERRORS_RETURN));
    }
    explicit Window(Run &run) : Window(run, sequence(length, 100 * run.rank)) {}

    void free(Run &run) {
        CALL(MPI_Win_free(&handle));
        run.out.value("null", handle == MPI_WIN_NULL);
        run.out.buffer("memory at the end", memory);
    }

    MPI_Win handle = MPI_WIN_NULL;
    const Buffer<int> memory;
};

// Notes the memory of the window. No rank writes to it before all ranks have noted theirs.
void show(Run &run, const char *label, const Window &window) {
    run.out.buffer(label, window.memory);
    CALL(MPI_Barrier(MPI_COMM_WORLD));
}

MPI_Group only(Run &run, const Window &window, int rank) {
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group one = MPI_GROUP_NULL;
    CALL(MPI_Win_get_group(window.handle, &all));
    CALL(MPI_Group_incl(all, 1, &rank, &one));
    CALL(MPI_Group_free(&all));
    return one;
}

SCENARIO(fence, SIZED(MPI_Win_create), MPI_Win_fence, SIZED(MPI_Put), SIZED(MPI_Get),
         SIZED(MPI_Accumulate), MPI_Win_free) {
    Window window(run);
    const auto sent = sequence(4, 1000 * (run.rank + 1));
    Buffer<int> got(4);
    for (int epoch = 0; epoch < 2; ++epoch) {
        window.memory[15] = 7 * epoch + run.rank; // stored before the others look
        CALL(MPI_Win_fence(0, window.handle));
        CALL(SIZED(MPI_Put)(sent + epoch, 2, MPI_INT, run.next(), 3, 2, MPI_INT, window.handle));
        CALL(SIZED(MPI_Accumulate)(sent, 1, MPI_INT, run.next(), 9, 1, MPI_INT, MPI_SUM,
                                   window.handle));
        CALL(SIZED(MPI_Get)(got, 2, MPI_INT, run.next(), 14, 2, MPI_INT, window.handle));
        window.memory[0] = 50 + epoch; // stored elsewhere meanwhile
        CALL(MPI_Win_fence(0, window.handle));
        run.out.buffer("got", got);
        show(run, "memory", window);
    }
    CALL(SIZED(MPI_Put)(sent, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window.handle));
    CALL(SIZED(MPI_Get)(got, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window.handle));
    CALL(MPI_Win_fence(MPI_MODE_NOSUCCEED | MPI_MODE_NOPUT, window.handle));
    run.out.buffer("from nobody", got);
    window.free(run);
}

SCENARIO(strided, SIZED(MPI_Put), SIZED(MPI_Get)) {
    Window window(run);
    MPI_Datatype every_other = MPI_DATATYPE_NULL;
    CALL(MPI_Type_vector(3, 1, 2, MPI_INT, &every_other));
    CALL(MPI_Type_commit(&every_other));
    const auto sent = sequence(6, 500 + 10 * run.rank);
    Buffer<int> got(6);
    CALL(MPI_Win_fence(0, window.handle));
    CALL(SIZED(MPI_Put)(sent, 1, every_other, run.next(), 1, 1, every_other, window.handle));
    CALL(SIZED(MPI_Get)(got, 1, every_other, run.next(), 8, 3, MPI_INT, window.handle));
    CALL(MPI_Type_free(&every_other)); // while they are under way
    CALL(MPI_Win_fence(MPI_MODE_NOSUCCEED, window.handle));
    run.out.buffer("got", got);
    window.free(run);
}

// Read into the memory of the window itself, from where the next one reads it in turn.
SCENARIO(into_the_window, SIZED(MPI_Get), MPI_Win_fence) {
    Window window(run);
    CALL(MPI_Win_fence(0, window.handle));
    for (int step = 0; step < run.size; ++step) {
        CALL(SIZED(MPI_Get)(window.memory + step, 1, MPI_INT, run.next(), step == 0 ? 15 : step - 1,
                            1, MPI_INT, window.handle));
        CALL(MPI_Win_fence(0, window.handle));
    }
    show(run, "memory", window);
    window.free(run);
}

SCENARIO(allocated, SIZED(MPI_Win_allocate), MPI_Win_fence) {
    MPI_Win window = MPI_WIN_NULL;
    int *memory = nullptr;
    CALL(SIZED(MPI_Win_allocate)(length * sizeof(int), Unit{sizeof(int)}, MPI_INFO_NULL,
                                 MPI_COMM_WORLD, &memory, &window));
    run.out.choice("memory", memory);
    for (int i = 0; i < length; ++i) {
        memory[i] = i + run.rank;
    }
    const int sent[3] = {0, -1, -2};
    for (int epoch = 0; epoch < 3; ++epoch) {
        CALL(MPI_Win_fence(0, window));
        CALL(SIZED(MPI_Put)(sent + epoch, 1, MPI_INT, run.next(), 2 * epoch, 1, MPI_INT, window));
        CALL(MPI_Win_fence(0, window));
        run.out.values("memory", memory, length);
        CALL(MPI_Barrier(MPI_COMM_WORLD));
    }
    CALL(MPI_Win_fence(MPI_MODE_NOSUCCEED, window));
    CALL(MPI_Win_free(&window));
    run.out.value("null", window == MPI_WIN_NULL);
}

SCENARIO(fetched, SIZED(MPI_Get_accumulate), MPI_Fetch_and_op, MPI_Compare_and_swap) {
    Window window(run);
    const auto sent = sequence(2, 1000 * (run.rank + 1));
    Buffer<int> before(2);
    Buffer<int> counted(1);
    Buffer<int> read(1);
    Buffer<int> swapped(2);
    CALL(MPI_Win_fence(0, window.handle));
    CALL(SIZED(MPI_Get_accumulate)(sent, 2, MPI_INT, before, 2, MPI_INT, run.next(), 2, 2, MPI_INT,
                                   MPI_SUM, window.handle));
    CALL(MPI_Fetch_and_op(sent, counted, MPI_INT, run.next(), 5, MPI_REPLACE, window.handle));
    CALL(MPI_Fetch_and_op(nullptr, read, MPI_INT, run.next(), 7, MPI_NO_OP, window.handle));
    const int expected = 100 * run.next() + 10;
    CALL(MPI_Compare_and_swap(sent, &expected, swapped, MPI_INT, run.next(), 10, window.handle));
    CALL(
        MPI_Compare_and_swap(sent, &expected, swapped + 1, MPI_INT, run.next(), 11, window.handle));
    CALL(MPI_Win_fence(0, window.handle));
    run.out.buffer("before", before);
    run.out.buffer("counted", counted);
    run.out.buffer("read", read);
    run.out.buffer("swapped", swapped);
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    CALL(SIZED(MPI_Get_accumulate)(nullptr, 0, MPI_INT, before, 2, MPI_INT, run.next(), 2, 2,
                                   MPI_INT, MPI_NO_OP, window.handle));
    CALL(MPI_Win_fence(MPI_MODE_NOSUCCEED, window.handle));
    run.out.buffer("read again", before);
    window.free(run);
}

SCENARIO(post_and_start, MPI_Win_post, MPI_Win_start, MPI_Win_complete, MPI_Win_wait,
         MPI_Win_test) {
    Window window(run);
    const auto sent = sequence(3, 1000 * (run.rank + 1));
    Buffer<int> got(3);
    MPI_Group next = only(run, window, run.next());
    MPI_Group previous = only(run, window, run.previous());
    for (int round = 0; round < 3; ++round) {
        window.memory[12] = 10 * round + run.rank;
        CALL(MPI_Win_post(previous, 0, window.handle));
        CALL(MPI_Win_start(next, 0, window.handle));
        CALL(
            SIZED(MPI_Put)(sent + round, 1, MPI_INT, run.next(), round, 1, MPI_INT, window.handle));
        CALL(SIZED(MPI_Get)(got + round, 1, MPI_INT, run.next(), 12, 1, MPI_INT, window.handle));
        CALL(MPI_Win_complete(window.handle));
        run.out.buffer("got", got);
        if (round == 1) {
            int done = 0;
            while (done == 0) {
                if (MPI_Win_test(window.handle, &done) != MPI_SUCCESS) {
                    throw Failure("MPI_Win_test");
                }
            }
        } else {
            CALL(MPI_Win_wait(window.handle));
        }
        run.out.buffer("memory", window.memory);
    }
    CALL(MPI_Group_free(&next));
    CALL(MPI_Group_free(&previous));
    window.free(run);
}

SCENARIO(locked, MPI_Win_lock, MPI_Win_unlock, MPI_Win_lock_all, MPI_Win_unlock_all, MPI_Win_flush,
         MPI_Win_flush_all, MPI_Win_flush_local, MPI_Win_flush_local_all, MPI_Win_sync) {
    Window window(run);
    const auto sent = sequence(6, 1000 * (run.rank + 1));
    Buffer<int> got(6);
    CALL(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, run.next(), 0, window.handle));
    CALL(SIZED(MPI_Put)(sent, 2, MPI_INT, run.next(), 2, 2, MPI_INT, window.handle));
    CALL(MPI_Win_flush(run.next(), window.handle));
    CALL(SIZED(MPI_Get)(got, 2, MPI_INT, run.next(), 3, 2, MPI_INT, window.handle));
    CALL(MPI_Win_unlock(run.next(), window.handle));
    run.out.buffer("got", got);
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    CALL(MPI_Win_lock_all(0, window.handle));
    show(run, "memory", window);
    CALL(SIZED(MPI_Put)(sent + 2, 1, MPI_INT, run.next(), 5, 1, MPI_INT, window.handle));
    CALL(MPI_Win_flush_local(run.next(), window.handle));
    CALL(SIZED(MPI_Put)(sent + 3, 1, MPI_INT, run.next(), 6, 1, MPI_INT, window.handle));
    CALL(MPI_Win_flush_local_all(window.handle));
    CALL(MPI_Win_flush_all(window.handle));
    CALL(SIZED(MPI_Get)(got, 3, MPI_INT, run.next(), 5, 3, MPI_INT, window.handle));
    CALL(MPI_Win_flush_all(window.handle));
    run.out.buffer("got", got);
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    CALL(MPI_Win_sync(window.handle));
    show(run, "memory", window);
    window.memory[8] = -8;
    CALL(MPI_Win_sync(window.handle));
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    CALL(SIZED(MPI_Get)(got, 1, MPI_INT, run.next(), 8, 1, MPI_INT, window.handle));
    CALL(MPI_Win_unlock_all(window.handle));
    run.out.buffer("got", got);
    window.free(run);
}

// Who comes first may differ from execution to execution, but not in a re-execution.
SCENARIO(counter, MPI_Fetch_and_op, MPI_Win_lock) {
    Window window(run);
    const int one = 1;
    for (int i = 0; i < 3; ++i) {
        int before = -1;
        CALL(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.handle));
        CALL(MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 4, MPI_SUM, window.handle));
        CALL(MPI_Win_unlock(0, window.handle));
        run.out.choice("before", before);
    }
    window.free(run);
}

SCENARIO(requests, SIZED(MPI_Rput), SIZED(MPI_Rget), SIZED(MPI_Raccumulate),
         SIZED(MPI_Rget_accumulate)) {
    Window window(run);
    const auto sent = sequence(4, 1000 * (run.rank + 1));
    Buffer<int> got(4);
    MPI_Request request = MPI_REQUEST_NULL;
    CALL(MPI_Win_lock_all(0, window.handle));
    CALL(SIZED(MPI_Rput)(sent, 2, MPI_INT, run.next(), 2, 2, MPI_INT, window.handle, &request));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CALL(MPI_Win_flush(run.next(), window.handle));
    CALL(SIZED(MPI_Raccumulate)(sent, 1, MPI_INT, run.next(), 2, 1, MPI_INT, MPI_SUM, window.handle,
                                &request));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CALL(MPI_Win_flush(run.next(), window.handle));
    CALL(SIZED(MPI_Rget)(got, 2, MPI_INT, run.next(), 2, 2, MPI_INT, window.handle, &request));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    run.out.buffer("got", got);
    CALL(SIZED(MPI_Rget_accumulate)(sent, 2, MPI_INT, got + 2, 2, MPI_INT, run.next(), 6, 2,
                                    MPI_INT, MPI_REPLACE, window.handle, &request));
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
    run.out.buffer("got", got);
    CALL(MPI_Win_unlock_all(window.handle));
    window.free(run);
}

// The data are there at the flush. The program may change them before it waits.
SCENARIO(read_at_the_flush, SIZED(MPI_Rget), SIZED(MPI_Rget_accumulate)) {
    Window window(run);
    const auto sent = sequence(4, 1000 * (run.rank + 1));
    Buffer<int> got(4);
    Buffer<int> got_at_the_end(2);
    MPI_Request requests[3];
    CALL(MPI_Win_lock_all(0, window.handle));
    CALL(SIZED(MPI_Rget)(got, 2, MPI_INT, run.next(), 2, 2, MPI_INT, window.handle, &requests[0]));
    CALL(SIZED(MPI_Rget_accumulate)(sent, 2, MPI_INT, got + 2, 2, MPI_INT, run.next(), 6, 2,
                                    MPI_INT, MPI_REPLACE, window.handle, &requests[1]));
    CALL(MPI_Win_flush(run.next(), window.handle));
    run.out.buffer("got at the flush", got);
    got[0] = 7;
    got[3] = 8;
    CALL(SIZED(MPI_Rget)(got_at_the_end, 2, MPI_INT, run.next(), 2, 2, MPI_INT, window.handle,
                         &requests[2]));
    CALL(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    run.out.buffer("got and changed", got);
    CALL(MPI_Win_unlock_all(window.handle));
    run.out.buffer("got at the end", got_at_the_end);
    CALL(MPI_Wait(&requests[2], MPI_STATUS_IGNORE));
    window.free(run);
}

#ifndef CD_LARGE_COUNTS
SCENARIO(properties, MPI_Win_set_info, MPI_Win_get_info, MPI_Win_set_name, MPI_Win_get_name,
         MPI_Win_get_attr, MPI_Win_get_errhandler) {
    Window window(run);
    int *model = nullptr;
    int present = -1;
    CALL(MPI_Win_get_attr(window.handle, MPI_WIN_MODEL, &model, &present));
    run.out.value("model", *model == MPI_WIN_SEPARATE);
    void *base = nullptr;
    CALL(MPI_Win_get_attr(window.handle, MPI_WIN_BASE, &base, &present));
    run.out.value("base", base == window.memory.data());
    MPI_Aint *size = nullptr;
    CALL(MPI_Win_get_attr(window.handle, MPI_WIN_SIZE, &size, &present));
    run.out.value("present", present);
    CALL(MPI_Win_set_name(window.handle, "a scenario's"));
    char name[MPI_MAX_OBJECT_NAME] = {};
    int characters = 0;
    CALL(MPI_Win_get_name(window.handle, name, &characters));
    run.out.text("name", name);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    CALL(MPI_Win_get_errhandler(window.handle, &handler));
    run.out.value("handler", handler == MPI_ERRORS_RETURN);
    MPI_Info info = MPI_INFO_NULL;
    CALL(MPI_Win_get_info(window.handle, &info));
    run.out.choice("info", info);
    CALL(MPI_Win_set_info(window.handle, info));
    CALL(MPI_Info_free(&info));
    int key = MPI_KEYVAL_INVALID;
    CALL(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, nullptr));
    CALL(MPI_Win_set_attr(window.handle, key, &key));
    CALL(MPI_Win_delete_attr(window.handle, key));
    CALL(MPI_Win_free_keyval(&key));
    window.free(run);
}

#ifdef CD_HAS_MPI_Win_c2f // elsewhere it is the same handle
SCENARIO(handle_in_fortran, SIZED(MPI_Win_create), MPI_Win_free) {
    Window window(run);
    const MPI_Fint number = MPI_Win_c2f(window.handle);
    run.out.choice("number", number);
    run.out.value("it is this one", MPI_Win_f2c(number) == window.handle);
    window.free(run);
}
#endif

SCENARIO(dynamic, MPI_Win_create_dynamic) {
    MPI_Win win = MPI_WIN_NULL;
    CALL(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    run.out.choice("window", win);
    CALL(MPI_Win_lock_all(0, win));
    CALL(MPI_Win_unlock_all(win));
    CALL(MPI_Barrier(MPI_COMM_WORLD));
    CALL(MPI_Win_free(&win));
    run.out.value("null", win == MPI_WIN_NULL);
}

// Of others MPI itself refuses it.
struct DynamicWindow {
    DynamicWindow() { MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &handle); }
    DynamicWindow(const DynamicWindow &) = delete;
    DynamicWindow &operator=(const DynamicWindow &) = delete;
    ~DynamicWindow() { MPI_Win_free(&handle); }
    MPI_Win handle = MPI_WIN_NULL;
};

#define REFUSED(name, ...) REFUSAL(name, MPI_##name, __VA_ARGS__)
REFUSED(Win_attach, DynamicWindow().handle, nullptr, 0)
REFUSED(Win_detach, DynamicWindow().handle, nullptr)
#endif
REFUSAL(Win_allocate_shared, SIZED(MPI_Win_allocate_shared), 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
        nullptr, nullptr)

} // namespace

} // namespace one_sided
