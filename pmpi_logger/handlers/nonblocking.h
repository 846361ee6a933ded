// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "call/call.h"
#include "handlers/blocking.h"
#include "mpi/role.h"
#include "payload/received_data.h"
#include "requests/request_table.h"
#include "requests/staging.h"
#include "rma/window_table.h"

#include <tuple>

namespace cd::logger {

// Gives MPI the copies of the buffers in `staging`, and copies of the arrays of counts,
// displacements and types. MPI may read those until the request completes, and a restore changes
// the program's.
template <typename Roles, typename Tuple>
void stage_arguments(const Call &call, Tuple &arguments, Staging &staging) {
    if constexpr (Roles::has(Role::send_buf)) {
        auto &buffer = std::get<Roles::index(Role::send_buf)>(arguments);
        buffer = staging.send_buf(buffer);
    }
    if constexpr (Roles::has(Role::recv_buf)) {
        auto &buffer = std::get<Roles::index(Role::recv_buf)>(arguments);
        buffer = staging.recv_buf(buffer);
    }
    const auto keep = [&]<Role... R>(int length) {
        const auto keep_one = [&]<Role One>() {
            if constexpr (Roles::has(One)) {
                auto &array = std::get<Roles::index(One)>(arguments);
                array = staging.keep(array, length);
            }
        };
        (keep_one.template operator()<R>(), ...);
    };
    if constexpr (Roles::has(Role::send_counts)) {
        keep.template operator()<Role::send_counts, Role::send_displs, Role::send_types>(
            Arrivals::ranks_sent_to(call));
    }
    if constexpr (Roles::has(Role::recv_counts)) {
        keep.template operator()<Role::recv_counts, Role::recv_displs, Role::recv_types>(
            Arrivals::ranks_received_from(call));
    }
}

// Records non-blocking calls. The log has the call; the data are logged where the request
// completes. MPI works on copies of the buffers, except for receives, which a restore can take
// back. The entry of a call that is complete at once has its handle and data.
//
// In a replay the request is a placeholder if the log completes it. Otherwise a restore found it
// pending: it is still under way, or started again, or complete with its data kept.
class NonblockingBase : public MovesData {
protected:
    // Tracks a request outside of logs, if it brings data.
    static void track(const Call &call, Request::Kind kind, MPI_Request request);
    static void track_receive(MPI_Request request, const Message &message);

    // Takes the copy if the request is pending.
    static void record_message(const Call &call, Request::Kind kind, int result,
                               MPI_Request request, SendCopy &copy);
    static void record(const Call &call, Request::Kind kind, int result, MPI_Request request,
                       Staging &&staging);

    // Sets `request`, or `again` if the call must be made again.
    static int replay(const Call &call, Request::Kind kind, MPI_Request *request, Request *&again);

    // Notes that the call was made again.
    static void started_again(Request &again, MPI_Request request);

    // Keeps the copy of a remote write that was complete at once.
    static void keep_sent(MPI_Win window, int target, SendCopy &&sent);

    static SendCopy send_copy_of(const Call &call);
    static Staging staging_of(const Call &call, Request::Kind kind, bool has_send_buf);
};

// The memory on which MPI works until the request completes.
enum class Works { on_buffers, on_copy, on_staging };

template <Request::Kind K, Works W = Works::on_staging> class Nonblocking : public NonblockingBase {
public:
    static constexpr bool guards_itself = true;

    template <Fn F, typename... A> static int call(const void *site, A... a) {
        if (!brings_data && !Logging::is_possible()) {
            return real<F>(a...);
        }
        return start_here<F>(site, a...);
    }

private:
    // A restore need not know requests that bring no data.
    static constexpr bool brings_data = K != Request::Kind::send && K != Request::Kind::generalized;

    template <Fn F, typename... A>
    [[gnu::noinline]] static int start_here(const void *site, A... a) {
        if (ReentryGuard::mpi()) {
            return real<F>(a...);
        }
        const auto take = [&]() __attribute__((always_inline)) {
            const int mode = Logging::mode();
            return mode == CD_LOG_OFF ? start_unlogged<F>(site, a...) : start<F>(mode, site, a...);
        };
        return RecordFailure::guarded<F>(take);
    }

    // Makes the call outside of logs.
    template <Fn F, typename... A> static int start_unlogged(const void *site, A... a) {
        using Roles = typename Row<F>::Roles;
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
                track_receive(request, {K, to, std::get<Roles::index(Role::comm)>(arguments),
                                        std::get<Roles::index(Role::peer)>(arguments),
                                        std::get<Roles::index(Role::tag)>(arguments)});
            } else if constexpr (brings_data) {
                track(decode_data<F>(site, a...), K, request); // a CD may log when it completes
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
            return result == run_live ? Nonblocking::call<F>(site, a...) : result;
        }
        if constexpr (K == Request::Kind::send || K == Request::Kind::receive) {
            return record_one_way<Roles>(call, arguments, request, make);
        } else {
            return record_staged<Roles>(call, arguments, request, make);
        }
    }

    // `make`: makes the call with `arguments`.
    template <typename Roles, typename Tuple, typename Make>
    [[gnu::always_inline]] static int record_one_way(const Call &call, Tuple &arguments,
                                                     const MPI_Request *request, const Make &make) {
        SendCopy copy;
        if constexpr (W == Works::on_copy) {
            copy = send_copy_of(call);
            if (!copy.empty()) {
                std::get<Roles::index(Role::send_buf)>(arguments) = copy.address();
            }
        }
        const int result = make();
        record_message(call, K, result, made(result, request), copy);
        if constexpr (W == Works::on_copy && Roles::has(Role::window)) {
            if (result == MPI_SUCCESS) {
                keep_sent(std::get<Roles::index(Role::window)>(arguments),
                          std::get<Roles::index(Role::target)>(arguments), std::move(copy));
            }
        }
        return result;
    }

    template <typename Roles, typename Tuple, typename Make>
    [[gnu::always_inline]] static int record_staged(const Call &call, Tuple &arguments,
                                                    MPI_Request *request, const Make &make) {
        Staging staging;
        if constexpr (W == Works::on_staging) {
            staging = staging_of(call, K, Roles::has(Role::send_buf));
            if (!staging.empty()) {
                stage<Roles>(call, arguments, staging);
            }
        }
        const int result = make();
        record(call, K, result, made(result, request), std::move(staging));
        return result;
    }

    // A failed call has made no request.
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

using NonblockingSend = Nonblocking<Request::Kind::send, Works::on_copy>;
using NonblockingBufferedSend = Nonblocking<Request::Kind::send, Works::on_buffers>;
using NonblockingReceive = Nonblocking<Request::Kind::receive, Works::on_buffers>;
using NonblockingMatchedReceive = Nonblocking<Request::Kind::matched>;
using NonblockingExchange = Nonblocking<Request::Kind::exchange>;
using NonblockingCollective = Nonblocking<Request::Kind::collective>;
using NonblockingDuplicate = Nonblocking<Request::Kind::collective>;
using NonblockingFileRead = Nonblocking<Request::Kind::file>;
using NonblockingFileWrite = Nonblocking<Request::Kind::file>;
using GeneralizedStart = Nonblocking<Request::Kind::generalized, Works::on_buffers>;

} // namespace cd::logger
