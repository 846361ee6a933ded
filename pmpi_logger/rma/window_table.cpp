// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#include "rma/window_table.h"

#include "call/closed_handles.h"
#include "call/replay_range.h"
#include "log_entry/decode.h"
#include "mpi/real.h"
#include "payload/datatype_cache.h"

#include <cstdio>

namespace cd::logger {

namespace {

// Returns the number that MPI has for the handle, whatever the thread means by it.
MPI_Fint number_in_mpi(MPI_Win handle) {
#ifdef CD_HAS_MPI_Win_c2f
    return real<Fn::MPI_Win_c2f>(handle);
#else
    return MPI_Win_c2f(handle); // a macro
#endif
}

// Returns the key of a window that has no handle yet.
uint64_t no_handle(const Window &window) { return ~window.number; }

} // namespace

WindowTable &WindowTable::instance() {
    // Never destroyed: MPI may be used while the process ends.
    static auto &table = *new WindowTable;
    return table;
}

Window *WindowTable::find(MPI_Win handle) {
    const std::optional<FreedWindow> gone = FreedWindows::find(handle);
    const std::scoped_lock lock(mutex_);
    if (gone) {
        const auto found = numbered_.find(gone->window);
        return found != numbered_.end() ? found->second.get() : nullptr;
    }
    const auto found = named_.find(word_of(handle));
    return found != named_.end() ? found->second : nullptr;
}

Window *WindowTable::find(uint64_t number) {
    const std::scoped_lock lock(mutex_);
    const auto found = numbered_.find(number);
    return found != numbered_.end() ? found->second.get() : nullptr;
}

bool WindowTable::is_freed(MPI_Win handle) {
    const Window *window = find(handle);
    return window != nullptr && window->is_freed();
}

Window *WindowTable::find_freed(MPI_Fint in_fortran) {
    const std::optional<FreedWindow> gone = FreedWindows::find_freed_in_fortran(in_fortran);
    return gone ? find(gone->window) : nullptr;
}

Window *WindowTable::add(std::unique_ptr<Window> window) {
    if (window == nullptr) {
        return nullptr;
    }
    const std::scoped_lock lock(mutex_);
    window->number = ++numbers_;
    Window *&named = named_[no_handle(*window)];
    std::unique_ptr<Window> &numbered = numbered_[window->number];
    named = window.get();
    numbered = std::move(window);
    return numbered.get();
}

void WindowTable::name(Window &window, MPI_Win handle) {
    window.in_fortran = number_in_mpi(handle);
    window.handle = handle;
    const std::scoped_lock lock(mutex_);
    auto named = named_.extract(no_handle(window));
    named_.erase(word_of(handle));
    named.key() = word_of(handle);
    named_.insert(std::move(named));
}

void WindowTable::unname(const Window &window) {
    const std::scoped_lock lock(mutex_);
    const auto named = named_.find(word_of(window.handle));
    if (named != named_.end() && named->second == &window) {
        named_.erase(named);
    }
}

void WindowTable::erase(uint64_t number) {
    const std::scoped_lock lock(mutex_);
    const auto found = numbered_.find(number);
    if (found != numbered_.end()) {
        const auto is_it = [&](const auto &named) { return named.second == found->second.get(); };
        std::erase_if(named_, is_it);
        numbered_.erase(found);
    }
}

Window *WindowTable::over(const void *first, size_t bytes) {
    const std::scoped_lock lock(mutex_);
    for (auto &[number, window] : numbered_) {
        if (window->in_copy(first, bytes) != nullptr) {
            return window.get();
        }
    }
    return nullptr;
}

void WindowTable::keep_type(MPI_Datatype type) {
    const std::scoped_lock lock(mutex_);
    for (auto &[number, window] : numbered_) {
        for (Access &access : window->accesses) {
            if (access.landing.type != type && access.result.type != type) {
                continue;
            }
            const MPI_Datatype copy = copy_of_type(type);
            access.own_types.push_back(copy);
            for (Block *block : {&access.landing, &access.result}) {
                block->type = block->type == type ? copy : block->type;
            }
        }
    }
}

const char *WindowTable::hindrance(cd_handle cd) {
    const ReplayRange range(cd);
    const std::scoped_lock lock(mutex_);
    for (const auto &[number, window] : numbered_) {
        for (const Access &access : window->accesses) {
            const bool reads = access.reads_program && access.id != 0 && range.covers(access.place);
            if (access.under_way && (reads || access.writes_program())) {
                thread_local char reason[160];
                std::snprintf(reason, sizeof reason,
                              "a one-sided operation with target rank %d still uses the program's "
                              "memory: end its epoch first",
                              access.target);
                return reason;
            }
        }
    }
    return nullptr;
}

void WindowTable::restored(cd_handle cd) {
    const ReplayRange range(cd);
    const std::scoped_lock lock(mutex_);
    for (auto &[number, window] : numbered_) {
        const auto is_repeated = [&](const Access &access) {
            return access.id != 0 && range.covers(access.place);
        };
        std::erase_if(window->accesses, [&](const Access &access) {
            return is_repeated(access) && !access.under_way;
        });
        for (Access &access : window->accesses) {
            if (is_repeated(access)) {
                access.result = {};
            }
        }
    }
}

} // namespace cd::logger
