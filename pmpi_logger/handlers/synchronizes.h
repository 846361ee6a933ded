// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/windows.h"
#include "replay/poll_counts.h"

#include <tuple>

namespace cd::logger {

// A call that synchronizes a window: begins or ends an epoch, or completes operations within one.
// The log has what others have written into this rank's memory, and what the operations that the
// call ends have brought; a replay writes both.
class Synchronizes {
    enum class Ends { nothing, accesses_of_target, all_accesses };
    enum class Locks { no, begins, ends }; // the target, if the call has one; else all ranks

    // When MPI's separate memory model says that the two memories are brought together.
    struct Effect {
        bool publishes; // what the program has stored
        bool acquires;  // what others have written
        Ends ends;
        Locks locks;
    };

public:
    struct Of {
        static constexpr Effect nothing = {false, false, Ends::nothing, Locks::no};
        static constexpr Effect fence = {true, true, Ends::all_accesses, Locks::no};
        static constexpr Effect publish = {true, false, Ends::nothing, Locks::no};
        static constexpr Effect acquire = {false, true, Ends::nothing, Locks::no};
        static constexpr Effect both = {true, true, Ends::nothing, Locks::no};
        static constexpr Effect lock = {false, true, Ends::nothing, Locks::begins};
        static constexpr Effect unlock = {true, false, Ends::accesses_of_target, Locks::ends};
        static constexpr Effect unlock_all = {true, false, Ends::all_accesses, Locks::ends};
        static constexpr Effect end_one = {false, false, Ends::accesses_of_target, Locks::no};
        static constexpr Effect end_all = {false, false, Ends::all_accesses, Locks::no};
    };

    template <Fn F, typename... A> static int call(const void *site, A... a) {
        using Roles = typename Row<F>::Roles;
        const std::tuple<A...> arguments(a...);
        if (ReentryGuard::mpi()) {
            return call_mpi<F>(a...);
        }
        const MPI_Win win = std::get<Roles::index(Role::window)>(arguments);
        Window *window = WindowTable::instance().find(win);
        const int mode = Logging::mode();
        if (window == nullptr || (mode != CD_LOG_OFF && !can_be_recorded(window))) {
            return mode == CD_LOG_OFF || RecordAll::records() || !may_name(win, MPI_WIN_NULL)
                       ? call_mpi<F>(a...)
                       : refuse(F, window_is_not_separate);
        }
        Synchronization what = {Row<F>::of, decode<F>(site, a...)};
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
        const ReentryGuard inside;
        if (what.publishes) {
            window->publish();
        }
        if constexpr (Row<F>::of.locks == Locks::ends) {
            Roles::has(Role::target) ? window->unlock(what.target) : window->unlock_all();
        }
        const int result = call_mpi<F>(a...);
        if (Row<F>::of.locks == Locks::begins && result == MPI_SUCCESS) {
            Roles::has(Role::target) ? window->lock(what.target) : window->lock_all();
        }
        settle(what, *window, result, mode == CD_LOG_RECORDING);
        return result;
    }

private:
    struct Synchronization : Effect {
        Synchronization(const Effect &effect, const Call &its_call)
            : Effect(effect), call(its_call) {}

        Call call;
        int target = 0;

        bool concludes(int accessed) const {
            return ends == Ends::all_accesses ||
                   (ends == Ends::accesses_of_target && accessed == target);
        }
    };

    static void settle(const Synchronization &what, Window &window, int result, bool recording);
    static int replay(const Synchronization &what, Window &window);
};

} // namespace cd::logger
