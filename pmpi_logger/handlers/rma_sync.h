// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/windows.h"
#include "log_entry/reader.h"
#include "log_entry/writer.h"
#include "replay/poll_counts.h"
#include "rma/window.h"

#include <tuple>

namespace cd::logger {

// The writes of others into a window, in a log entry. Only changed bytes are recorded, but the
// whole memory at the first time in an interval: a re-execution may have other contents there.
class WindowChanges {
public:
    explicit WindowChanges(Window &window) : window_(window) {}

    void acquire();

    // Adds the changes; they must stay in place until the entry is written.
    void add_to(EntryWriter &writer);

    static void take(EntryReader &entry, Window &window);

private:
    Window &window_;
    bool acquired_ = false;
    Runs runs_;
};

// Records synchronizations of windows: what others have written into this rank's memory, and what
// the completed operations have brought. A replay writes both.
class RmaSync {
    enum class Ends { nothing, accesses_of_target, all_accesses };

    // The effect of a synchronization on the two copies of the window, and the accesses it ends.
    struct Effect {
        bool publishes; // the program's stores
        bool acquires;  // the writes of others
        Ends ends;
    };

public:
    struct Of {
        static constexpr Effect nothing = {false, false, Ends::nothing};
        static constexpr Effect fence = {true, true, Ends::all_accesses};
        static constexpr Effect publish = {true, false, Ends::nothing};
        static constexpr Effect acquire = {false, true, Ends::nothing};
        static constexpr Effect both = {true, true, Ends::nothing};
        static constexpr Effect lock = {false, true, Ends::nothing};
        static constexpr Effect unlock = {true, false, Ends::accesses_of_target};
        static constexpr Effect unlock_all = {true, false, Ends::all_accesses};
        static constexpr Effect end_one = {false, false, Ends::accesses_of_target};
        static constexpr Effect end_all = {false, false, Ends::all_accesses};
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
            return result == run_live ? RmaSync::call<F>(site, a...) : result;
        }
        const ReentryGuard inside;
        if (what.publishes) {
            window->publish();
        }
        const int result = call_mpi<F>(a...);
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
