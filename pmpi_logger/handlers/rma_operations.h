// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/nonblocking.h"
#include "handlers/windows.h"
#include "mpi/differences.h"

#include <tuple>

namespace cd::logger {

// Records accesses to windows of other ranks. MPI may work until a synchronization, so it gets
// copies of sent data and other places for results. The synchronization's entry has the data. A
// replay accesses nothing.
class RmaOperation : public MovesData {
public:
    template <Fn F, typename... A> static int call(const void *site, A... a) {
        using Roles = typename Row<F>::Roles;
        std::tuple<A...> arguments(a...);
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
        Call call = decode_data<F>(site, a...);
        const int target = std::get<Roles::index(Role::target)>(arguments);
        const int one = target == MPI_PROC_NULL ? 0 : 1; // which moves nothing
        if constexpr (Roles::has(Role::both_type)) {
            call.arguments.send_count = call.arguments.recv_count = one;
        }
        if constexpr (Roles::has(Role::operation)) {
            if (std::get<Roles::index(Role::operation)>(arguments) == MPI_NO_OP) {
                call.arguments.send_type = MPI_DATATYPE_NULL; // and the buffer is ignored
            }
        }
        if (mode == CD_LOG_OFF) {
            const ReentryGuard inside;
            window->reserve_room();
            Access access = access_without_log(call, target);
            replace_buffers<Roles>(arguments, access);
            const int result = std::apply([](A... b) { return call_mpi<F>(b...); }, arguments);
            if (result == MPI_SUCCESS && access.brings()) {
                window->accesses.push_back(std::move(access)); // a later entry may have its data
            }
            return result;
        }
        Blocking::add_checksum(call);
        Block compared;
        if constexpr (Roles::has(Role::compare_buf)) {
            compared = {const_cast<void *>(std::get<Roles::index(Role::compare_buf)>(arguments)),
                        one, call.arguments.send_type};
            add_checksum(call, compared);
        }
        if (mode == CD_LOG_REPLAYING) {
            const int result = replay(call, *window, target);
            return result == run_live ? RmaOperation::call<F>(site, a...) : result;
        }
        const ReentryGuard inside;
        window->reserve_room(); // before MPI is called
        Access access = begin(call, compared, target);
        replace_buffers<Roles>(arguments, access);
        const int result = std::apply([](A... b) { return call_mpi<F>(b...); }, arguments);
        record(call, *window, result, std::move(access));
        return result;
    }

private:
    // Gives MPI copies of the program's data.
    template <typename Roles, typename Tuple>
    static void replace_buffers(Tuple &arguments, const Access &access) {
        if constexpr (Roles::has(Role::send_buf)) {
            replace(std::get<Roles::index(Role::send_buf)>(arguments), access.departing);
        }
        if constexpr (Roles::has(Role::compare_buf)) {
            replace(std::get<Roles::index(Role::compare_buf)>(arguments), access.compared);
        }
        if constexpr (Roles::has(Role::recv_buf)) {
            if (access.brings()) {
                std::get<Roles::index(Role::recv_buf)>(arguments) = access.landing.address;
            }
        }
    }
    static void replace(const void *&argument, const SendCopy &copy) {
        argument = copy.empty() ? argument : copy.address();
    }
    static void add_checksum(Call &call, const Block &block);

    static Access access_without_log(const Call &call, int target);
    static Access begin(const Call &call, const Block &compared, int target);
    static void record(const Call &call, Window &window, int result, Access &&access);
    static int replay(const Call &call, Window &window, int target);
};

// Records accesses with a request, such as MPI_Rget. Their data are there when the request or a
// synchronization completes.
template <typename Handler> class NonblockingRma : public MovesData {
public:
    template <Fn F, typename... A> static int call(const void *site, A... a) {
        using Roles = typename Row<F>::Roles;
        const std::tuple<A...> arguments(a...);
        const MPI_Win win = std::get<Roles::index(Role::window)>(arguments);
        const Window *const window = WindowTable::instance().find(win);
        const bool separate = window != nullptr;
        const bool logs = !passes_through(Logging::mode()) && !RecordAll::records();
        if (logs && !can_be_recorded(window) && may_name(win, MPI_WIN_NULL)) {
            return refuse(F, window_is_not_separate);
        }
        if constexpr (completes_reads_early && Roles::has(Role::recv_buf)) {
            if (logs && separate &&
                (!is_basic(std::get<Roles::index(Role::recv_type)>(arguments)) ||
                 !is_basic(std::get<Roles::index(Role::type)>(arguments)))) {
                return refuse(F, "MPICH 4.0 says that a read with derived types is complete "
                                 "before its data are there. Use basic types, or a newer MPICH");
            }
        }
        const int result = Handler::template call<F>(site, a...);
        if constexpr (Roles::has(Role::recv_buf)) {
            if (separate && result == MPI_SUCCESS && !ReentryGuard::mpi()) {
                note_read(*std::get<Roles::index(Role::request)>(arguments), win,
                          std::get<Roles::index(Role::target)>(arguments));
            }
        }
        return result;
    }

private:
    static void note_read(MPI_Request handle, MPI_Win window, int target) {
        if (Request *request = RequestTable::instance().find(handle)) {
            request->window = window;
            request->target = target;
        }
    }
};

using NonblockingRmaWrite = NonblockingRma<NonblockingSend>;
using NonblockingRmaRead = NonblockingRma<NonblockingCollective>;

} // namespace cd::logger
