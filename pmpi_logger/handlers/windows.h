// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/closed_handles.h"
#include "call/handle_word.h"
#include "handlers/blocking.h"
#include "handlers/object_state.h"
#include "handlers/passthrough.h"
#include "objects/deferred_free.h"
#include "objects/inner_frees.h"
#include "rma/window_policy.h"
#include "rma/window_table.h"

namespace cd::logger {

constexpr const char *window_is_not_separate =
    "its window has no separate memory: it was made before libcd was there, with "
    "CD_WINDOWS=direct, or as a shared window; or memory is attached to it";

inline bool can_be_recorded(const Window *window) {
    return window != nullptr && !window->is_exposed && !window->is_mpis;
}

// Makes windows. MPI gets a copy of the program's memory, see rma/window.h. The log has the
// window's number, so that a replay finds it or makes it without MPI.
class WindowCreateBase : public MovesData {
protected:
    // Return nothing if MPI uses the program's memory itself.
    static std::unique_ptr<Window> over(void *memory, int64_t size);
    static std::unique_ptr<Window> beside(void *mpis, int64_t size);

    // Called before MPI, which may use the copy. Returns nullptr if there is none.
    static Window *add(std::unique_ptr<Window> window);
    static int record(Call &call, int result, Window *window, MPI_Win handle);

    // `memory`: the program's, set by the replay.
    static int replay(Call &call, MPI_Win *handle, void *const *memory, int64_t size);

    // Notes the window that the last entry made. `window`: nullptr if it has no copy.
    static void made(Window *window, MPI_Win handle);

    static bool is_mpis_business() { return ReentryGuard::mpi() || RecordAll::records(); }
};

class WindowCreate : public WindowCreateBase {
public:
    template <Fn F, typename Size, typename Unit>
    static int call(const void *site, void *memory, Size size, Unit unit, MPI_Info info,
                    MPI_Comm comm, MPI_Win *win) {
        if (is_mpis_business()) {
            return call_mpi<F>(memory, size, unit, info, comm, win);
        }
        Call call = decode_data<F>(site, memory, size, unit, info, comm, win);
        if (Logging::mode() == CD_LOG_REPLAYING) {
            const int result = replay(call, win, &memory, size);
            return result == run_live
                       ? WindowCreate::call<F>(site, memory, size, unit, info, comm, win)
                       : result;
        }
        const ReentryGuard inside;
        Window *const window = add(over(memory, size));
        const int result = call_mpi<F>(window != nullptr && size > 0 ? window->copy() : memory,
                                       size, unit, info, comm, win);
        return record(call, result, window, *win);
    }
};

class WindowAllocate : public WindowCreateBase {
public:
    template <Fn F, typename Size, typename Unit>
    static int call(const void *site, Size size, Unit unit, MPI_Info info, MPI_Comm comm,
                    void *memory, MPI_Win *win) {
        if (is_mpis_business()) {
            return call_mpi<F>(size, unit, info, comm, memory, win);
        }
        Call call = decode_data<F>(site, size, unit, info, comm, memory, win);
        auto *const given = static_cast<void **>(memory);
        if (Logging::mode() == CD_LOG_REPLAYING) {
            const int result = replay(call, win, given, size);
            return result == run_live
                       ? WindowAllocate::call<F>(site, size, unit, info, comm, memory, win)
                       : result;
        }
        const ReentryGuard inside;
        const int result = call_mpi<F>(size, unit, info, comm, memory, win);
        Window *const window = result == MPI_SUCCESS ? add(beside(*given, size)) : nullptr;
        if (window != nullptr) {
            *given = window->memory();
        }
        return record(call, result, window, *win);
    }
};

// MPI_Win_create_dynamic: the window serves to access other ranks' memory.
class WindowCreateDynamic : public WindowCreateBase {
public:
    template <Fn F> static int call(const void *site, MPI_Info info, MPI_Comm comm, MPI_Win *win) {
        if (is_mpis_business()) {
            return call_mpi<F>(info, comm, win);
        }
        Call call = decode_data<F>(site, info, comm, win);
        if (Logging::mode() == CD_LOG_REPLAYING) {
            void *const none = nullptr;
            const int result = replay(call, win, &none, 0);
            return result == run_live ? WindowCreateDynamic::call<F>(site, info, comm, win)
                                      : result;
        }
        const ReentryGuard inside;
        Window *const window = add(over(nullptr, 0));
        const int result = call_mpi<F>(info, comm, win);
        return record(call, result, window, *win);
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
        if (InnerCalls::are_of_undo()) {
            *win = MPI_WIN_NULL;
            return MPI_SUCCESS;
        }
        if (ReentryGuard::mpi()) {
            return free_now<F>(win);
        }
        Window *window = WindowTable::instance().find(*win);
        if (window == nullptr) {
            window = known_from_now_on(*win);
        }
        if (window == nullptr) {
            return Blocking::call_by<F>([](MPI_Win *w) { return free_now<F>(w); }, site, win);
        }
        const Call call = decode_data<F>(site, win);
        if (Logging::mode() == CD_LOG_REPLAYING) {
            const int result = replay(call, *window);
            return result == run_live ? WindowFree::call<F>(site, win) : result;
        }
        const ReentryGuard inside;
        const bool records = cd_log_mode() == CD_LOG_RECORDING && !RecordAll::records();
        InnerCalls inner(records ? InnerCalls::Of::call : InnerCalls::Of::nothing);
        // Nobody reads what the program stored last, and its memory may be gone.
        const int held = hold_handler(*window);
        const int result = held == MPI_SUCCESS ? free_now<F>(win, window->number) : held;
        if (const auto place = freed(call, result, *window)) {
            inner.settle(*place, false);
        }
        return result;
    }

private:
    template <Fn F> static int free_now(MPI_Win *win, uint64_t number = 0) {
        return free_object(
            win, [&] { return call_mpi<F>(win); }, static_cast<int>(number));
    }

    // Returns a new Window for a window that had none, so that a replay knows that it is gone; or
    // nullptr.
    static Window *known_from_now_on(MPI_Win handle);
    // Holds the error handler. Returns MPI's error.
    static int hold_handler(Window &window);
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
            if (!replays || result != MPI_SUCCESS || *present == 0) {
                return result;
            }
            return FreedWindowAttributes::answer(
                win, key, [&](SetAttribute &set) { *static_cast<void **>(value) = set.in_c(); },
                [&] { return call_mpi<F>(win, key, value, present); });
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

    // Replaces the address of a value in MPI's memory by one that stays valid.
    static void make_lasting(int key, void *value);
};

#ifdef OPEN_MPI // elsewhere Fortran has the same handles
// MPI_Win_c2f, MPI_Win_f2c, also for freed windows.
class WindowFortranHandle {
public:
    using Of = Arrivals;

    template <Fn F, typename Handle> static auto call(const void *, Handle handle) {
        if constexpr (F == Fn::MPI_Win_c2f) {
            const Window *const window = WindowTable::instance().find(handle);
            return window != nullptr && window->is_gone() ? window->in_fortran
                                                          : call_mpi<F>(handle);
        } else {
            const Window *const window = WindowTable::instance().find_gone(handle);
            return window != nullptr ? window->handle : call_mpi<F>(handle);
        }
    }
};
#endif

// Calls the error handler as MPI does when a call on the window fails.
int raise_at(const Window &window, int error);

// MPI_Win_shared_query: fails if the window was freed, whose memory is gone.
class SharedQuery {
public:
    using Of = Arrivals;

    template <Fn F, typename... A> static int call(const void *site, MPI_Win win, A... a) {
        const Window *const window = WindowTable::instance().find(win);
        return window != nullptr && window->is_gone() ? of_gone_window(F, site, *window)
                                                      : call_mpi<F>(win, a...);
    }

private:
    static int of_gone_window(Fn fn, const void *site, const Window &window);
};

// Passes calls to Family, but records them like Blocking for a window that MPI has freed.
template <typename Family> class OnWindow {
public:
    using Of = Arrivals;

    template <Fn F, typename... A> static int call(const void *site, MPI_Win win, A... a) {
        return WindowTable::instance().is_gone(win) ? Blocking::log<F>(site, win, a...)
                                                    : Family::template call<F>(site, win, a...);
    }

    template <Fn F, typename Make, typename... A>
    static int call_by(const Make &make, const void *site, MPI_Win win, A... a) {
        return WindowTable::instance().is_gone(win)
                   ? Blocking::call_by<F>(make, site, win, a...)
                   : Family::template call_by<F>(make, site, win, a...);
    }
};

using WindowNameSet = OnWindow<NameSet>;

// MPI_Win_call_errhandler: calls the handler in a re-execution, too.
class WindowErrorCall : public ObjectChange {
public:
    template <Fn F> static int call(const void *site, MPI_Win win, int error) {
        const int mode = Logging::mode();
        if (passes_through(mode)) {
            return call_mpi<F>(win, error);
        }
        return change(
            decode<F>(site, win, error), mode,
            [&] {
                const Window *const window = WindowTable::instance().find(win);
                if (window == nullptr || !window->is_gone()) {
                    return call_mpi<F>(win, error);
                }
                raise_at(*window, error);
                return MPI_SUCCESS;
            },
            nothing_to_undo);
    }
};

} // namespace cd::logger
