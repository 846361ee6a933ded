// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/windows.h"

#include "call/closed_handles.h"
#include "handlers/object_state.h"
#include "handlers/rma_sync.h"
#include "log_entry/writer.h"
#include "objects/deferred_free.h"
#include "payload/private_comm.h"
#include "replay/match.h"

#include <map>
#include <mutex>

namespace cd::logger {
namespace {

void forget_gone(const cd_log_place &place, int gone, uint64_t window) {
    when_forgotten(place, [gone, window] {
        GoneWindows::remove(gone);
        WindowTable::instance().erase(window);
    });
}

// Brings the window back when a restore goes back to before it was freed.
void put_back_when_restored(const GoneWindow &gone) {
    when_restored(gone.freed_at, [gone] { GoneWindows::put_back(gone); });
}

// Notes a window that was freed outside of logs: the replay that makes it may use it to its end.
void note_gone(const cd_log_place &place, const Window &window) {
    GoneWindow gone;
    gone.handle = window.handle;
    gone.in_fortran = -1; // unknown
    gone.number = next_owner();
    gone.made = place;
    gone.freed = true;
    gone.freed_at = place;
    gone.freed_at.entry = UINT64_MAX;
    gone.window = window.number;
    forget_gone(place, gone.number, window.number);
    GoneWindows::add(gone);
}

// Returns an address of the number that is valid until the process ends.
template <typename Number> Number *lasting(const void *number) {
    static std::mutex mutex;
    static auto &all = *new std::map<Number, Number>;
    const Number wanted = *static_cast<const Number *>(number);
    const std::scoped_lock lock(mutex);
    return &all.try_emplace(wanted, wanted).first->second;
}

} // namespace

std::unique_ptr<Window> WindowCreateBase::over(void *memory, int64_t size) {
    const bool can_be = size >= 0 && (memory != nullptr || size == 0);
    return can_be && separate_memory_wanted() ? Window::over(memory, static_cast<size_t>(size))
                                              : nullptr;
}

std::unique_ptr<Window> WindowCreateBase::beside(void *mpis, int64_t size) {
    return size >= 0 && separate_memory_wanted() ? Window::beside(mpis, static_cast<size_t>(size))
                                                 : nullptr;
}

Window *WindowCreateBase::add(std::unique_ptr<Window> window) {
    return window != nullptr ? &WindowTable::instance().add(std::move(window)) : nullptr;
}

int WindowCreateBase::record(Call &call, int result, Window *window, MPI_Win handle) {
    if (window != nullptr && result == MPI_SUCCESS) {
        WindowTable::instance().name(*window, handle);
    } else if (window != nullptr) {
        WindowTable::instance().erase(window->number);
        window = nullptr;
    }
    if (cd_log_mode() == CD_LOG_RECORDING) {
        uint64_t number = window != nullptr ? window->number : 0;
        call.add_output({&number, sizeof number});
        Blocking::record(call, result, nullptr, false);
        made(window, result == MPI_SUCCESS ? handle : MPI_WIN_NULL);
    }
    return result;
}

int WindowCreateBase::replay(Call &call, MPI_Win *handle, void *const *memory, int64_t size) {
    uint64_t number = 0;
    call.add_output({&number, sizeof number});
    const int result = Blocking::replay(call, false);
    if (result == MPI_SUCCESS) {
        made(number != 0 ? &WindowTable::instance().reappear(number, *handle, *memory,
                                                             static_cast<size_t>(size))
                         : nullptr,
             *handle);
    }
    return result;
}

void WindowCreateBase::made(Window *window, MPI_Win handle) {
    const std::optional<cd_log_place> place = last_entry();
    if (handle == MPI_WIN_NULL || !place) {
        return;
    }
    if (window != nullptr) {
        window->made = *place;
    }
    if (const std::optional<GoneWindow> known = GoneWindows::made_at(*place, handle)) {
        GoneWindows::add(*known);
    } else if (window != nullptr && window->is_gone()) {
        note_gone(*place, *window);
    }
}

Window *WindowFree::known_from_now_on(MPI_Win handle) {
    if (Logging::mode() != CD_LOG_RECORDING || RecordAll::records() || handle == MPI_WIN_NULL) {
        return nullptr;
    }
    std::unique_ptr<Window> window = Window::over(nullptr, 0);
    if (window == nullptr) {
        return nullptr;
    }
    window->is_mpis = true;
    Window &added = WindowTable::instance().add(std::move(window));
    WindowTable::instance().name(added, handle);
    return &added;
}

// Holds the error handler, with which a replay may raise errors.
int WindowFree::hold_handler(Window &window) {
    cd_log_place place = {};
    if (cd_log_mode() != CD_LOG_RECORDING || cd_log_here(&place) == 0) {
        return MPI_SUCCESS;
    }
    const int result = real<Fn::MPI_Win_get_errhandler>(window.handle, &window.handler);
    when_forgotten(place, [held = held(window.handler)] {});
    return result;
}

std::optional<cd_log_place> WindowFree::freed(const Call &call, int result, Window &window) {
    WindowTable &table = WindowTable::instance();
    WindowChanges changes(window);
    if (result == MPI_SUCCESS) {
        if (!window.made_memory()) { // the memory of MPI has gone with the window
            changes.acquire();
        }
        window.mpi_is_done();
        table.unname(window);
    }
    cd_log_place place = {};
    if (cd_log_mode() != CD_LOG_RECORDING || cd_log_here(&place) == 0) {
        if (result == MPI_SUCCESS) {
            table.erase(window.number);
        }
        return std::nullopt;
    }
    EntryWriter writer(call, result);
    writer.add_outputs(call);
    changes.add_to(writer);
    const bool is_there = writer.write() != nullptr;
    if (result != MPI_SUCCESS) {
        if (window.is_mpis) {
            table.erase(window.number);
        }
    } else {
        GoneWindow gone;
        gone.handle = window.handle;
        gone.in_fortran = window.in_fortran;
        gone.number = next_owner();
        gone.made = window.made;
        gone.freed = true;
        gone.freed_at = place;
        gone.window = window.number;
        put_back_when_restored(gone);
        forget_gone(place, gone.number, window.number);
    }
    return is_there ? std::optional(place) : std::nullopt;
}

int WindowFree::replay(const Call &call, Window &window) {
    const std::optional<GoneWindow> gone = GoneWindows::find(window.handle);
    int result = MPI_SUCCESS;
    std::optional<EntryReader> entry = next_entry(call, result);
    if (!entry) {
        return result;
    }
    entry->take_outputs(call);
    WindowChanges::take(*entry, window);
    if (entry->result() != MPI_SUCCESS) {
        return raise_at(window, entry->result());
    }
    InnerCalls inner(InnerCalls::Of::call);
    const std::optional<cd_log_place> place = last_entry();
    FreedWindowAttributes::remove_all(window);
    if (place) {
        inner.settle(*place, true);
    }
    if (gone) {
        GoneWindows::remove(gone->number);
        put_back_when_restored(*gone);
    }
    return MPI_SUCCESS;
}

const Window *WindowAttributeGet::separate(MPI_Win win, int key) {
    if (ReentryGuard::mpi() || (key != MPI_WIN_BASE && key != MPI_WIN_MODEL)) {
        return nullptr;
    }
    const Window *const window = WindowTable::instance().find(win);
    return window != nullptr && !window->is_mpis ? window : nullptr;
}

void WindowAttributeGet::make_lasting(int key, void *value) {
    auto *const place = static_cast<void **>(value);
    if (key == MPI_WIN_SIZE) {
        *place = lasting<MPI_Aint>(*place);
    } else if (key == MPI_WIN_DISP_UNIT || key == MPI_WIN_CREATE_FLAVOR || key == MPI_WIN_MODEL) {
        *place = lasting<int>(*place);
    }
}

int SharedQuery::of_gone_window(Fn fn, const void *site, const Window &window) {
    complain_unknown(fn, site,
                     "the program freed this window later, and its memory has gone with it. "
                     "Advance the domain before the window is freed, or free it outside");
    return raise_at(window, MPI_ERR_WIN);
}

int raise_at(const Window &window, int error) {
    const ReentryGuard inside;
    if (!window.is_gone()) {
        real<Fn::MPI_Win_call_errhandler>(window.handle, error);
        return error;
    }
#ifdef OPEN_MPI // which calls handlers of living windows only, and makes none for one rank
    if (window.handler == MPI_ERRORS_RETURN) {
        return error;
    }
    const bool is_the_programs =
        window.handler != MPI_ERRHANDLER_NULL && window.handler != MPI_ERRORS_ARE_FATAL;
    return is_the_programs ? raise_logged(MPI_COMM_NULL, error) : raise(MPI_COMM_NULL, error);
#else
    MPI_Win own = MPI_WIN_NULL;
    real<Fn::MPI_Win_create>(nullptr, 0, 1, MPI_INFO_NULL, self_comm(), &own);
    if (window.handler != MPI_ERRHANDLER_NULL) {
        real<Fn::MPI_Win_set_errhandler>(own, window.handler);
    }
    real<Fn::MPI_Win_call_errhandler>(own, error);
    real<Fn::MPI_Win_free>(&own);
    return error;
#endif
}

} // namespace cd::logger
