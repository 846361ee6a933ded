// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/blocking.h"
#include "handlers/changes.h"
#include "mpi/reentry_guard.h"
#include "rma/window_table.h"

#include <mpi.h>
#include <optional>

namespace cd::logger {

// The attributes of windows that MPI has freed, as a re-execution has set them: an address is
// another one than that in the log.
class AttributesOfGone {
public:
    // nullptr unless MPI has freed the window.
    static Window *window(MPI_Win handle);

    // Keeps what the thread's last call has set or deleted, without calling delete functions.
    // `number`: by Fortran, else `value` is what C has set.
    static void set(Window &window, int key, void *value, std::optional<MPI_Aint> number);
    static void remove(Window &window, int key);

    // What the thread's last call has asked for, and the log has answered: take gets what the
    // re-execution has set of a window that is gone, ask asks MPI about one that it has. What
    // neither knows is as the log has it.
    template <typename Take, typename Ask>
    static int answer(MPI_Win handle, int key, const Take &take, const Ask &ask) {
        const Window *const gone = window(handle);
        const SetAttribute *const set = gone != nullptr ? find(*gone, key) : nullptr;
        if (set != nullptr && set->is_there) {
            take(*set);
        } else if (mpi_has(handle, key)) {
            const ReentryGuard inside;
            return ask();
        }
        return MPI_SUCCESS;
    }

private:
    static const SetAttribute *find(const Window &window, int key);
    static SetAttribute *change(Window &window, int key);
    static bool mpi_has(MPI_Win handle, int key);
};

// MPI_Win_set_attr: of a window that is gone MPI can be told nothing.
class SetsAttributeOfWindow {
public:
    using Of = Arrivals;

    template <Fn F> static int call(const void *site, MPI_Win win, int key, void *value) {
        Window *const gone = AttributesOfGone::window(win);
        if (gone == nullptr) {
            return SetsAttribute::call<F>(site, win, key, value);
        }
        const int result = Blocking::log<F>(site, win, key, value);
        if (result == MPI_SUCCESS) {
            AttributesOfGone::set(*gone, key, value, std::nullopt);
        }
        return result;
    }

    // By Fortran.
    template <Fn F, typename Make>
    static int call_by(const Make &make, const void *site, MPI_Win win, int key, void *value) {
        Window *const gone = AttributesOfGone::window(win);
        if (gone == nullptr) {
            return SetsAttribute::call_by<F>(make, site, win, key, value);
        }
        const int result = Blocking::call_by<F>(make, site, win, key, value);
        if (result == MPI_SUCCESS) {
            AttributesOfGone::set(*gone, key, nullptr, *static_cast<MPI_Aint *>(value));
        }
        return result;
    }
};

// MPI_Win_delete_attr: the same.
class DeletesAttributeOfWindow {
public:
    using Of = Arrivals;

    template <Fn F> static int call(const void *site, MPI_Win win, int key) {
        Window *const gone = AttributesOfGone::window(win);
        if (gone == nullptr || InnerCalls::are_of_undo()) {
            return DeletesAttribute::call<F>(site, win, key);
        }
        const int result = Blocking::log<F>(site, win, key);
        if (result == MPI_SUCCESS) {
            AttributesOfGone::remove(*gone, key);
        }
        return result;
    }
};

} // namespace cd::logger
