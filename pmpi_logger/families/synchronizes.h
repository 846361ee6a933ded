// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "families/windows.h"
#include "replay/polls.h"

#include <tuple>

namespace cd::logger {

// A call that synchronizes a window: begins or ends an epoch, or completes operations within one.
// The log has what others have written into this rank's memory, and what the operations that the
// call ends have brought; a replay writes both.
class Synchronizes : public MovesData {
public:
    template <Fn F, typename... A> static int call(const void *site, A... a) {
        using Roles = typename Row<F>::Roles;
        const std::tuple<A...> arguments(a...);
        if (Inside::mpi()) {
            return real<F>(a...);
        }
        const MPI_Win win = std::get<Roles::index(Role::window)>(arguments);
        Window *window = WindowTable::instance().find(win);
        const int mode = Logging::mode();
        if (window == nullptr || (mode != CD_LOG_OFF && !can_be_recorded(window))) {
            return mode == CD_LOG_OFF || WholeProgram::records() || !may_name(win, MPI_WIN_NULL)
                       ? real<F>(a...)
                       : refuse(F, window_is_not_separate);
        }
        Synchronization what = of<F>();
        what.call = decode_data<F>(site, a...);
        if constexpr (Roles::has(Role::assertion)) {
            const int assertion = std::get<Roles::index(Role::assertion)>(arguments);
            what.publishes = what.publishes && (assertion & MPI_MODE_NOSTORE) == 0;
            what.acquires = what.acquires && (assertion & MPI_MODE_NOPRECEDE) == 0;
        }
        if constexpr (Roles::has(Role::target)) {
            what.target = std::get<Roles::index(Role::target)>(arguments);
        }
        if (may_have_answer(mode)) {
            const int result = replay(what, *window);
            return result == run_live ? Synchronizes::call<F>(site, a...) : result;
        }
        const Inside inside;
        if (what.publishes) {
            window->publish();
        }
        if constexpr (F == Fn::MPI_Win_unlock) {
            window->unlock(what.target);
        } else if constexpr (F == Fn::MPI_Win_unlock_all) {
            window->unlock_all();
        }
        const int result = real<F>(a...);
        if (result == MPI_SUCCESS) {
            if constexpr (F == Fn::MPI_Win_lock) {
                window->lock(what.target);
            } else if constexpr (F == Fn::MPI_Win_lock_all) {
                window->lock_all();
            }
        }
        settle(what, *window, result, mode == CD_LOG_RECORDING);
        return result;
    }

private:
    enum class Ends { nothing, accesses_of_target, all_accesses };

    struct Synchronization {
        bool publishes; // what the program has stored
        bool acquires;  // what others have written
        Ends ends;
        int target = 0;
        Call call = {};

        bool concludes(int accessed) const {
            return ends == Ends::all_accesses ||
                   (ends == Ends::accesses_of_target && accessed == target);
        }
    };

    // When MPI's separate memory model says that the two memories are brought together.
    template <Fn F> static constexpr Synchronization of() {
        switch (F) {
        case Fn::MPI_Win_fence:
            return {true, true, Ends::all_accesses};
        case Fn::MPI_Win_post:
            return {true, false, Ends::nothing};
        case Fn::MPI_Win_wait:
        case Fn::MPI_Win_test:
        case Fn::MPI_Win_lock:
        case Fn::MPI_Win_lock_all:
            return {false, true, Ends::nothing};
        case Fn::MPI_Win_sync:
            return {true, true, Ends::nothing};
        case Fn::MPI_Win_unlock:
            return {true, false, Ends::accesses_of_target};
        case Fn::MPI_Win_unlock_all:
            return {true, false, Ends::all_accesses};
        case Fn::MPI_Win_flush:
        case Fn::MPI_Win_flush_local:
            return {false, false, Ends::accesses_of_target};
        case Fn::MPI_Win_flush_all:
        case Fn::MPI_Win_flush_local_all:
        case Fn::MPI_Win_complete:
            return {false, false, Ends::all_accesses};
        default: // MPI_Win_start
            return {false, false, Ends::nothing};
        }
    }

    static void settle(const Synchronization &what, Window &window, int result, bool recording);
    static int replay(const Synchronization &what, Window &window);
};

} // namespace cd::logger
