// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
// What the program itself gives a window that MPI has freed when a replay uses it.
#include "window.h"

#include <memory>
#include <vector>

namespace windows {

namespace {

// Both ranks make and free windows; only one of them is restored.
template <typename Step> void in_three_executions(const Step &step) {
    if (world_rank() == 1) {
        step();
        return;
    }
    Domain domain;
    step();
    for (int i = 0; i < 2; ++i) {
        domain.restore();
        step();
    }
}

int new_key() {
    int key = MPI_KEYVAL_INVALID;
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, nullptr);
    return key;
}

template <typename Value> Value *value_of(MPI_Win window, int key) {
    Value *value = nullptr;
    int present = 0;
    MPI_Win_get_attr(window, key, &value, &present);
    return present != 0 ? value : nullptr;
}

} // namespace

HAZARD(attribute_of_a_window_is_what_the_re_execution_has_set) {
    Numbers memory = numbers(world_rank(), eager);
    std::vector<std::unique_ptr<int>> all; // none is where another one was
    in_three_executions([&] {
        MPI_Win window = window_over(memory);
        int key = new_key();
        CHECK(value_of<int>(window, key) == nullptr);
        for (int i = 0; i < 2; ++i) {
            const int *mine = all.emplace_back(std::make_unique<int>(i)).get();
            MPI_Win_set_attr(window, key, const_cast<int *>(mine));
            CHECK(value_of<int>(window, key) == mine);
        }
        MPI_Win_delete_attr(window, key);
        CHECK(value_of<int>(window, key) == nullptr);
        MPI_Win_free_keyval(&key);
        MPI_Win_free(&window);
    });
}

// What only an execution has set that was restored itself does not count.
HAZARD(attribute_of_a_window_is_that_of_before_until_it_is_set) {
    if (world_rank() == 1) {
        Numbers memory = numbers(1, eager);
        MPI_Win window = window_over(memory);
        MPI_Win_free(&window);
        return;
    }
    Numbers memory = numbers(0, eager);
    int before = 0;
    int after = 0;
    int after_again = 0;
    int key = new_key();
    MPI_Win window = window_over(memory);
    const MPI_Win handle = window;
    MPI_Win_set_attr(window, key, &before);
    Domain domain;
    const auto set = [&](int &value) {
        window = handle;
        CHECK(value_of<int>(window, key) == &before);
        MPI_Win_set_attr(window, key, &value);
        CHECK(value_of<int>(window, key) == &value);
    };
    set(after);
    MPI_Win_free(&window);
    domain.restore();
    set(after_again);
    domain.restore();
    set(after);
    MPI_Win_free(&window);
    MPI_Win_free_keyval(&key);
}

namespace {

struct Deleted {
    MPI_Win window;
    int key;
    const void *value;
    bool operator==(const Deleted &) const = default;
};

int note_deleted(MPI_Win window, int key, void *value, void *notes) {
    static_cast<std::vector<Deleted> *>(notes)->push_back({window, key, value});
    return MPI_SUCCESS;
}

} // namespace

HAZARD(delete_function_of_an_attribute_of_a_window_is_called_again) {
    Numbers memory = numbers(world_rank(), eager);
    in_three_executions([&] {
        std::vector<Deleted> notes;
        int values[3] = {};
        MPI_Win window = window_over(memory);
        const MPI_Win handle = window;
        int key = MPI_KEYVAL_INVALID;
        MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, note_deleted, &key, &notes);
        const Deleted first = {handle, key, &values[0]};
        const Deleted second = {handle, key, &values[1]};
        MPI_Win_set_attr(window, key, &values[0]);
        CHECK(notes.empty());
        MPI_Win_set_attr(window, key, &values[1]);
        CHECK(notes == std::vector<Deleted>{first});
        MPI_Win_delete_attr(window, key);
        CHECK((notes == std::vector<Deleted>{first, second}));
        MPI_Win_set_attr(window, key, &values[2]);
        CHECK((notes == std::vector<Deleted>{first, second}));
        MPI_Win_free(&window);
        CHECK((notes == std::vector<Deleted>{first, second, {handle, key, &values[2]}}));
        MPI_Win_free_keyval(&key);
    });
}

namespace {

#ifdef MPICH
constexpr bool handlers_are_called_of_what_is_gone = true;
#else
constexpr bool handlers_are_called_of_what_is_gone = false;
#endif

int calls_of_first = 0;
int calls_of_second = 0;
void first_handler(MPI_Win *, int *, ...) { ++calls_of_first; }
void second_handler(MPI_Win *, int *, ...) { ++calls_of_second; }

void handled_by(MPI_Win window, MPI_Win_errhandler_function *function) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Win_create_errhandler(function, &handler);
    MPI_Win_set_errhandler(window, handler);
    MPI_Errhandler_free(&handler);
}

} // namespace

HAZARD(error_handler_of_a_window_is_what_the_re_execution_has_set) {
    Numbers memory = numbers(world_rank(), eager);
    MPI_Win window = window_over(memory);
    const MPI_Win handle = window;
    handled_by(window, second_handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); // what is called instead
    bool calls = true;
    in_three_executions([&] {
        window = handle;
        calls_of_first = calls_of_second = 0;
        MPI_Win_call_errhandler(window, MPI_ERR_OTHER);
        CHECK(calls_of_first == 0 && calls_of_second == (calls ? 1 : 0));
        handled_by(window, first_handler);
        MPI_Win_call_errhandler(window, MPI_ERR_OTHER);
        CHECK(calls_of_first == (calls ? 1 : 0) && calls_of_second == (calls ? 1 : 0));
        MPI_Win_free(&window);
        calls = handlers_are_called_of_what_is_gone;
    });
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

} // namespace windows
