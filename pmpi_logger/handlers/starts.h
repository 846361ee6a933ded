// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/arrays.h"
#include "handlers/blocking.h"
#include "requests/table.h"
#include "rma/early_reads.h"
#include "rma/window_table.h"

#include <tuple>

namespace cd::logger {

// A call that returns before its work is done, and gives a request for it. The log has that it was
// called; what it brings is logged where the request completes. MPI works on copies of the buffers,
// except for receives, which a restore can take back.
//
// One that is complete at once is none: its handle, and what it has brought, stand in the log here.
//
// In a replay the request is a placeholder if its completion stands in the log, too. If a restore
// found it pending, it is the request that is still under way, or it is started once more, or it
// has completed meanwhile and its data were kept.
class Starting : public MovesData {
protected:
    // Tracks a request that no log knows, if it brings data; early: perhaps it is complete without.
    static void track(const Call &call, Request::Kind kind, MPI_Request request, bool early);
    static void track_receive(MPI_Request request, const Block &to, MPI_Comm comm, int peer,
                              int tag);

    // Takes the shadow if the request goes on.
    static void record_message(const Call &call, Request::Kind kind, int result,
                               MPI_Request request, SendCopy &shadow);
    // What record() wants, before the call is made: that takes no more memory for requests then,
    // so that what MPI works on is never lost.
    static Purpose purpose_for(const Call &call, Request::Kind kind);
    // Returns what goes on; nullptr if nothing does.
    static Request *record(const Call &call, Request::Kind kind, int result, MPI_Request request,
                           Purpose &&purpose, Staging &&staging);

    // Sets request, unless the call has to be started once more: then sets again.
    static int replay(const Call &call, Request::Kind kind, MPI_Request *request, Request *&again);

    // The call was started once more.
    static void started_again(Request &again, MPI_Request request);

    // What a write of another rank's window has sent that was complete at once.
    static void keep_sent(MPI_Win window, int target, SendCopy &&sent);

    static SendCopy shadow_of(const Call &call);
    static Staging staging_of(const Call &call, Request::Kind kind, bool has_send_buf);

    // A communicator that is valid when the request is complete.
    static Block made_by(const Call &call, Request::Kind kind);
    // The same where it is valid at once.
    static void note_made_at_once(const Call &call, Request::Kind kind, bool is_complete);
};

// What MPI works on while the program goes on.
enum class Works { on_buffers, on_shadow, on_staging };

template <Request::Kind K, Works W = Works::on_staging> class Starts : public Starting {
public:
    static constexpr bool guards_itself = true;

    template <Fn F, typename... A> static int call(const void *site, A... a) {
        if (!brings_data && !Logging::is_possible()) {
            return real<F>(a...);
        }
        return start_here<F>(site, a...);
    }

private:
    // No restore has to know of an older one that does not: it goes on.
    static constexpr bool brings_data = K != Request::Kind::send && K != Request::Kind::generalized;

    template <Fn F, typename... A>
    [[gnu::noinline]] static int start_here(const void *site, A... a) {
        if (ReentryGuard::mpi()) {
            return real<F>(a...);
        }
        const auto take = [&]() __attribute__((always_inline)) {
            const int mode = Logging::mode();
            return mode == CD_LOG_OFF ? start_untold<F>(site, a...) : start<F>(mode, site, a...);
        };
        return RecordFailure::guarded<F, brings_data>(take, [&] { return real<F>(a...); });
    }

    // No log is told.
    template <Fn F, typename... A> static int start_untold(const void *site, A... a) {
        using Roles = typename Row<F>::Roles;
        see_bystander<F>();
        const std::tuple<A...> arguments(a...);
        const int result = [&] {
            const ReentryGuard inside;
            return call_mpi<F>(a...);
        }();
        if (result == MPI_SUCCESS) {
            [[maybe_unused]] MPI_Request &request =
                *std::get<Roles::index(Role::request)>(arguments);
            if constexpr (K == Request::Kind::receive) {
                const Block to = {std::get<Roles::index(Role::recv_buf)>(arguments),
                                  std::get<Roles::index(Role::recv_count)>(arguments),
                                  std::get<Roles::index(Role::recv_type)>(arguments)};
                track_receive(request, to, std::get<Roles::index(Role::comm)>(arguments),
                              std::get<Roles::index(Role::peer)>(arguments),
                              std::get<Roles::index(Role::tag)>(arguments));
            } else if constexpr (brings_data) {
                bool early = false; // a CD may log when it is waited for
                if constexpr (reads_window<Roles>) {
                    early = WindowTable::instance().find(
                                std::get<Roles::index(Role::window)>(arguments)) != nullptr &&
                            std::get<Roles::index(Role::recv_count)>(arguments) > 0 &&
                            give_own_request(&request);
                }
                track(decode_data<F>(site, a...), K, request, early);
            }
        }
        return result;
    }

    template <Fn F, typename... A>
    [[gnu::noinline]] static int start(int mode, const void *site, A... a) {
        using Roles = typename Row<F>::Roles;
        std::tuple<A...> arguments(a...);
        MPI_Request *const request = std::get<Roles::index(Role::request)>(arguments);
        if (request == nullptr) {
            return call_mpi<F>(a...); // which is an error
        }
        const auto make = [&] {
            const ReentryGuard inside;
            return std::apply([](A... b) { return call_mpi<F>(b...); }, arguments);
        };
        Call call = decode_data<F>(site, a...);
        if (call.failure != MPI_SUCCESS) {
            return call.failure;
        }
        Blocking::add_checksum_as<F>(call);
        if (mode == CD_LOG_REPLAYING) {
            Request *again = nullptr;
            int result = replay(call, K, request, again);
            if (again != nullptr) {
                result = make();
                started_again(*again, *request);
            }
            return result == run_live ? Starts::call<F>(site, a...) : result;
        }
        if constexpr (K == Request::Kind::send || K == Request::Kind::receive) {
            return record_one_way<Roles>(call, arguments, request, make);
        } else {
            return record_staged<Roles>(call, arguments, request, make);
        }
    }

    // make: makes the call with the arguments.
    template <typename Roles, typename Tuple, typename Make>
    [[gnu::always_inline]] static int record_one_way(const Call &call, Tuple &arguments,
                                                     const MPI_Request *request, const Make &make) {
        SendCopy shadow;
        if constexpr (W == Works::on_shadow) {
            shadow = shadow_of(call);
            if (!shadow.empty()) {
                std::get<Roles::index(Role::send_buf)>(arguments) = shadow.address();
            }
        }
        const int result = make();
        try {
            record_message(call, K, result, made(result, request), shadow);
            if constexpr (W == Works::on_shadow && Roles::has(Role::window)) {
                if (result == MPI_SUCCESS) {
                    keep_sent(std::get<Roles::index(Role::window)>(arguments),
                              std::get<Roles::index(Role::target)>(arguments), std::move(shadow));
                }
            }
        } catch (const std::bad_alloc &) {
            shadow.leave_to_mpi();
            throw;
        }
        return result;
    }

    template <typename Roles, typename Tuple, typename Make>
    [[gnu::always_inline]] static int record_staged(const Call &call, Tuple &arguments,
                                                    MPI_Request *request, const Make &make) {
        Staging staging;
        Purpose purpose = purpose_for(call, K);
        if constexpr (W == Works::on_staging) {
            staging = staging_of(call, K, Roles::has(Role::send_buf));
            if (!staging.empty()) {
                stage<Roles>(call, arguments, staging);
            }
        }
        const int result = make();
        [[maybe_unused]] bool is_own = false;
        if constexpr (reads_window<Roles>) {
            const bool brings = call.arguments.recv_count > 0;
            is_own = result == MPI_SUCCESS && brings && give_own_request(request);
        }
        [[maybe_unused]] Request *const going_on =
            record(call, K, result, made(result, request), std::move(purpose), std::move(staging));
        if constexpr (reads_window<Roles>) {
            if (going_on != nullptr) {
                going_on->complete_without_data = is_own;
            }
        }
        return result;
    }

    template <typename Roles>
    static constexpr bool reads_window = Roles::has(Role::window) && Roles::has(Role::recv_buf);

    // A call that failed has made none, and may have been given no place for it.
    static MPI_Request made(int result, const MPI_Request *request) {
        return result == MPI_SUCCESS ? *request : MPI_REQUEST_NULL;
    }

    template <typename Roles, typename Tuple>
    static void stage(const Call &call, Tuple &arguments, Staging &staging) {
        stage_arguments<Roles>(call, arguments, staging);
        if constexpr (K == Request::Kind::collective && Roles::has(Role::out)) {
            auto &made = std::get<Roles::index(Role::out)>(arguments);
            made = static_cast<std::remove_reference_t<decltype(made)>>(staging.recv_buf(made));
        }
    }
};

using StartsSend = Starts<Request::Kind::send, Works::on_shadow>;
using StartsBufferedSend = Starts<Request::Kind::send, Works::on_buffers>;
using StartsReceive = Starts<Request::Kind::receive, Works::on_buffers>;
using StartsMatchedReceive = Starts<Request::Kind::matched>;
using StartsExchange = Starts<Request::Kind::exchange>;
using StartsCollective = Starts<Request::Kind::collective>;
using StartsDuplicate = Starts<Request::Kind::collective>;
using StartsFileRead = Starts<Request::Kind::file>;
using StartsFileWrite = Starts<Request::Kind::file>;
using StartsGeneralized = Starts<Request::Kind::generalized, Works::on_buffers>;
} // namespace cd::logger
