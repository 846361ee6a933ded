// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/closed_handles.h"
#include "call/handle_word.h"
#include "handlers/blocking.h"
#include "handlers/object_state.h"
#include "handlers/passthrough.h"
#include "objects/callback_effects.h"
#include "rma/window_policy.h"
#include "rma/window_table.h"

namespace cd::logger {

constexpr const char *window_is_not_separate =
    "its window has no separate memory (shared, CD_WINDOWS=direct, with attached memory, or made "
    "before libcd was loaded)";

inline bool can_be_recorded(const Window *window) {
    return window != nullptr && !window->is_exposed;
}

// Makes windows. MPI gets a copy of the program's memory, see rma/window.h. The log has the
// window's number, so that a replay finds it.
class WindowCreateBase : public MovesData {
protected:
    // Records or replays the call. `make` makes the window by MPI, and sets the Window that stands
    // for it. `memory`: the program's, which a replay may set.
    template <Fn F, typename Make, typename... A>
    static int create(const Make &make, void *const *memory, const void *site, A... a) {
        if (ReentryGuard::mpi() || RecordAll::records()) {
            return call_mpi<F>(a...);
        }
        Call call = decode_data<F>(site, a...);
        MPI_Win *const handle = std::get<sizeof...(A) - 1>(std::tuple<A...>(a...));
        if (Logging::mode() == CD_LOG_REPLAYING) {
            const int result = replay(call, handle, memory);
            return result == run_live ? create<F>(make, memory, site, a...) : result;
        }
        const ReentryGuard inside;
        Window *window = nullptr;
        const int result = make(window);
        return record(call, result, window, *handle);
    }

    // Return nullptr if MPI uses the program's memory itself.
    static Window *over(void *memory, int64_t size);
    static Window *beside(void *mpis, int64_t size);

private:
    static int record(Call &call, int result, Window *window, MPI_Win handle);
    static int replay(Call &call, MPI_Win *handle, void *const *memory);
    // Notes the window that the last entry made. `window`: nullptr if it has no copy.
    static void made(Window *window, MPI_Win handle);
};

class WindowCreate : public WindowCreateBase {
public:
    template <Fn F, typename Size, typename Unit>
    static int call(const void *site, void *memory, Size size, Unit unit, MPI_Info info,
                    MPI_Comm comm, MPI_Win *win) {
        const auto make = [&](Window *&window) {
            window = over(memory, size); // before MPI, which may use the copy
            return call_mpi<F>(window != nullptr && size > 0 ? window->copy() : memory, size, unit,
                               info, comm, win);
        };
        return create<F>(make, &memory, site, memory, size, unit, info, comm, win);
    }
};

class WindowAllocate : public WindowCreateBase {
public:
    template <Fn F, typename Size, typename Unit>
    static int call(const void *site, Size size, Unit unit, MPI_Info info, MPI_Comm comm,
                    void *memory, MPI_Win *win) {
        auto *const given = static_cast<void **>(memory);
        const auto make = [&](Window *&window) {
            const int result = call_mpi<F>(size, unit, info, comm, memory, win);
            window = result == MPI_SUCCESS ? beside(*given, size) : nullptr;
            if (window != nullptr) {
                *given = window->memory();
            }
            return result;
        };
        return create<F>(make, given, site, size, unit, info, comm, memory, win);
    }
};

// MPI_Win_create_dynamic: the window serves to access other ranks' memory.
class WindowCreateDynamic : public WindowCreateBase {
public:
    template <Fn F> static int call(const void *site, MPI_Info info, MPI_Comm comm, MPI_Win *win) {
        void *const none = nullptr;
        const auto make = [&](Window *&window) {
            window = over(none, 0);
            return call_mpi<F>(info, comm, win);
        };
        return create<F>(make, &none, site, info, comm, win);
    }
};

// MPI_Win_attach, MPI_Win_detach: refused in a CD that logs, since others change the memory in
// place.
class RefusedAttach : public Refused {
public:
    template <Fn F, typename... A> static int call(const void *site, MPI_Win win, A... a) {
        const int result = Refused::call<F>(site, win, a...);
        if (F == Fn::MPI_Win_attach && result == MPI_SUCCESS && !ReentryGuard::mpi()) {
            if (Window *window = WindowTable::instance().find(win)) {
                window->is_exposed = true;
            }
        }
        return result;
    }
};

// Frees windows at once, since the other ranks wait. Memory and facts for a replay stay as long as
// the log.
class WindowFree : public MovesData {
public:
    template <Fn F> static int call(const void *site, MPI_Win *win) {
        if (win == nullptr) {
            return call_mpi<F>(win); // which is an error
        }
        if (CallbackEffects::are_of_undo()) {
            *win = MPI_WIN_NULL;
            return MPI_SUCCESS;
        }
        if (ReentryGuard::mpi()) {
            return free_now<F>(win);
        }
        const int mode = Logging::mode();
        Window *const window = WindowTable::instance().find(*win);
        if (window == nullptr) {
            return mode == CD_LOG_OFF || RecordAll::records() || !may_name(*win, MPI_WIN_NULL)
                       ? Blocking::call_by<F>(free_now<F>, site, win)
                       : refuse(F, window_is_not_separate);
        }
        const Call call = decode_data<F>(site, win);
        if (mode == CD_LOG_REPLAYING) {
            const int result = replay(call, *window);
            return result == run_live ? WindowFree::call<F>(site, win) : result;
        }
        const ReentryGuard inside;
        const bool records = mode == CD_LOG_RECORDING && !RecordAll::records();
        CallbackEffects inner(records ? CallbackEffects::Of::call : CallbackEffects::Of::nothing);
        // Nobody reads what the program stored last, and its memory may be gone.
        const int result = free_now<F>(win);
        if (const auto place = freed(call, result, *window)) {
            inner.settle(*place, false);
        }
        return result;
    }

private:
    template <Fn F> static int free_now(MPI_Win *win) {
        return free_object(win, [&] { return call_mpi<F>(win); });
    }

    // Records the call. Returns where the entry lies, if there is one.
    static std::optional<cd_log_place> freed(const Call &call, int result, Window &window);
    static int replay(const Call &call, Window &window);
};

// MPI_Win_get_attr: reports the program's memory and the separate memory model. Other values lie in
// memory of the logger, since MPI's goes with the window.
class WindowAttributeGet : public MovesData {
public:
    template <Fn F>
    static int call(const void *site, MPI_Win win, int key, void *value, int *present) {
        const Window *const window = separate(win, key);
        if (window == nullptr) {
            const bool replays = Logging::mode() == CD_LOG_REPLAYING;
            const int result = Blocking::call_by<F>(ask<F>, site, win, key, value, present);
            return replays && result == MPI_SUCCESS && *present != 0
                       ? correct<F>(win, key, value, present)
                       : result;
        }
        static int model = MPI_WIN_SEPARATE;
        *static_cast<void **>(value) = key == MPI_WIN_BASE ? window->memory() : &model;
        *present = 1;
        return MPI_SUCCESS;
    }

    // Returns the window if it has a copy and the program asks for one of these two attributes.
    static const Window *separate(MPI_Win win, int key);

private:
    template <Fn F> static int ask(MPI_Win win, int key, void *value, int *present) {
        const int result = call_mpi<F>(win, key, value, present);
        if (result == MPI_SUCCESS && *present != 0) {
            make_lasting(key, value);
        }
        return result;
    }

    // Corrects an attribute that the log answered, since addresses differ in a re-execution. MPI
    // has the value that the re-execution has set, unless it has freed the window.
    template <Fn F> static int correct(MPI_Win win, int key, void *value, int *present) {
        const Window *const window = WindowTable::instance().find(win);
        if (window != nullptr && window->is_freed()) {
            const auto found = window->attributes.find(key);
            if (found != window->attributes.end()) {
                *static_cast<void **>(value) = found->second;
            }
        } else if (Keyvals::has(KeyvalsOf::windows, key)) {
            const ReentryGuard inside;
            return call_mpi<F>(win, key, value, present);
        }
        return MPI_SUCCESS;
    }

    // Replaces the address of a value in MPI's memory by one that stays valid.
    static void make_lasting(int key, void *value);
};

// MPI_Win_c2f, MPI_Win_f2c, also for freed windows.
class WindowFortranHandle {
public:
    using Of = Arrivals;

    template <Fn F, typename Handle> static auto call(const void *, Handle handle) {
        if constexpr (gives_fortran_handle<F>) {
            const Window *const window = WindowTable::instance().find(handle);
            return window != nullptr && window->is_freed() ? window->in_fortran
                                                           : call_mpi<F>(handle);
        } else {
            const Window *const window = WindowTable::instance().find_freed(handle);
            return window != nullptr ? window->handle : call_mpi<F>(handle);
        }
    }
};

// Calls the error handler as MPI does when a call on the window fails, but not that of a window
// which MPI has freed.
int raise_at(const Window &window, int error);

} // namespace cd::logger
