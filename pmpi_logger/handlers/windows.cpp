// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "handlers/windows.h"

#include "handlers/rma_sync.h"
#include "log_entry/writer.h"
#include "objects/deferred_free.h"
#include "replay/match.h"

#include <map>
#include <mutex>

namespace cd::logger {
namespace {

// Returns an address of the number that is valid until the process ends.
template <typename Number> Number *lasting(const void *number) {
    static std::mutex mutex;
    static auto &all = *new std::map<Number, Number>;
    const Number wanted = *static_cast<const Number *>(number);
    const std::scoped_lock lock(mutex);
    return &all.try_emplace(wanted, wanted).first->second;
}

} // namespace

Window *WindowCreateBase::over(void *memory, int64_t size) {
    const bool can_be = size >= 0 && (memory != nullptr || size == 0);
    return can_be && separate_memory_wanted()
               ? WindowTable::instance().add(Window::over(memory, static_cast<size_t>(size)))
               : nullptr;
}

Window *WindowCreateBase::beside(void *mpis, int64_t size) {
    return size >= 0 && separate_memory_wanted()
               ? WindowTable::instance().add(Window::beside(mpis, static_cast<size_t>(size)))
               : nullptr;
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
        Blocking::record(call, result, nullptr);
        made(window, handle);
    }
    return result;
}

int WindowCreateBase::replay(Call &call, MPI_Win *handle, void *const *memory) {
    uint64_t number = 0;
    call.add_output({&number, sizeof number});
    const int result = Blocking::replay(call, false);
    if (result != MPI_SUCCESS) {
        return result;
    }
    Window *const window = number != 0 ? WindowTable::instance().find(number) : nullptr;
    if (window == nullptr && number != 0) {
        report_unanswerable(
            call.fn, call.site,
            "a thread without a CD has freed this window. Free it where it was made");
        return raise(call.arguments.comm, MPI_ERR_WIN);
    }
    if (window != nullptr) {
        window->move_memory(*memory);
    }
    made(window, *handle);
    return MPI_SUCCESS;
}

void WindowCreateBase::made(Window *window, MPI_Win handle) {
    const std::optional<cd_log_place> place = last_entry();
    if (window == nullptr || !place) {
        return;
    }
    window->made = *place;
    if (const std::optional<FreedWindow> known = FreedWindows::made_at(*place, handle)) {
        FreedWindows::add(*known);
    }
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
    if (result == MPI_SUCCESS) {
        FreedWindow gone;
        gone.handle = window.handle;
        gone.in_fortran = window.in_fortran;
        gone.number = next_owner_number();
        gone.made = window.made;
        gone.window = window.number;
        note_freed_at<FreedWindows>(gone, place);
        when_forgotten(place, [number = window.number] { WindowTable::instance().erase(number); });
    }
    return is_there ? std::optional(place) : std::nullopt;
}

int WindowFree::replay(const Call &call, Window &window) {
    const std::optional<FreedWindow> gone = FreedWindows::find(window.handle);
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
    FreedHandles::add_again();
    const std::optional<cd_log_place> place = last_entry();
    if (gone && place) {
        note_freed_at<FreedWindows>(*gone, *place);
    }
    return MPI_SUCCESS;
}

const Window *WindowAttributeGet::separate(MPI_Win win, int key) {
    if (ReentryGuard::mpi() || (key != MPI_WIN_BASE && key != MPI_WIN_MODEL)) {
        return nullptr;
    }
    return WindowTable::instance().find(win);
}

void WindowAttributeGet::make_lasting(int key, void *value) {
    auto *const place = static_cast<void **>(value);
    if (key == MPI_WIN_SIZE) {
        *place = lasting<MPI_Aint>(*place);
    } else if (key == MPI_WIN_DISP_UNIT || key == MPI_WIN_CREATE_FLAVOR || key == MPI_WIN_MODEL) {
        *place = lasting<int>(*place);
    }
}

int raise_at(const Window &window, int error) {
    if (!window.is_freed()) {
        const ReentryGuard inside;
        real<Fn::MPI_Win_call_errhandler>(window.handle, error);
    }
    return error;
}

} // namespace cd::logger
