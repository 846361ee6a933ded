// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/blocking.h"
#include "handlers/nonblocking.h"
#include "requests/request_table.h"
#include "rma/window_policy.h"

#include <tuple>

namespace cd::logger {

// Makes persistent requests, and tracks them with or without a log, since a CD
// may start them. A re-execution gets the same request; another one stands in
// for it if its buffers have moved.
//
// Sends, collective and partitioned requests use copies from the start in
// programs that use CDs: a restore need not wait for them, and one rank cannot
// make them again.
class PersistentBase : public MovesData {
protected:
    static constexpr int make_anew = run_live - 1;

    static void track(const Call &call, Request::Kind kind, MPI_Request handle, Staging &&staging);
    static void record(const Call &call, int result, MPI_Request handle);
    // Answers from the log and sets `handle`. make_anew: the call must be made, see moved().
    static int replay(const Call &call, bool has_send_buf, MPI_Request *handle);
    // Lets `made`, which has the buffers of the re-execution, stand for `handle` in MPI.
    static void moved(const Call &call, MPI_Request handle, MPI_Request made);
    static Staging staging_of(const Call &call, Request::Kind kind, bool has_send_buf);
};

template <Request::Kind K> class PersistentInit : public PersistentBase {
public:
    template <Fn F, typename... A> static int call(const void *site, A... a) {
        if (ReentryGuard::mpi()) {
            return call_mpi<F>(a...);
        }
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
        const int mode = Logging::mode();
        const Call call = decode_data<F>(site, a...);
        if (call.failure != MPI_SUCCESS) {
            return call.failure;
        }
        if (mode == CD_LOG_REPLAYING) {
            int result = replay(call, Roles::has(Role::send_buf), request);
            if (result == make_anew) {
                const MPI_Request before = *request;
                result = make();
                if (result == MPI_SUCCESS) {
                    moved(call, before, *request);
                }
                *request = before;
            }
            return result == run_live ? PersistentInit::call<F>(site, a...) : result;
        }
        Staging staging = staging_of(call, K, Roles::has(Role::send_buf));
        if (!staging.empty()) {
            stage_arguments<Roles>(call, arguments, staging);
        }
        const int result = make();
        if (result == MPI_SUCCESS) {
            track(call, K, *request, std::move(staging));
        }
        if (mode == CD_LOG_RECORDING) {
            record(call, result, result == MPI_SUCCESS ? *request : MPI_REQUEST_NULL);
        }
        return result;
    }
};

using PersistentSend = PersistentInit<Request::Kind::send>;
using PersistentReceive = PersistentInit<Request::Kind::receive>;
using PersistentCollective = PersistentInit<Request::Kind::collective>;
using PartitionedInit = PersistentInit<Request::Kind::partitioned>;

// MPI_Start and MPI_Startall.
class PersistentStart : public MovesData {
public:
    template <Fn F, typename... A> static int call(const void *site, A... a) {
        const int mode = Logging::mode();
        if (ReentryGuard::mpi() || (mode == CD_LOG_OFF && RequestTable::empty())) {
            return call_mpi<F>(a...);
        }
        std::tuple<A...> arguments(a...);
        int count = 1;
        if constexpr (sizeof...(A) == 2) {
            count = std::get<0>(arguments);
        }
        MPI_Request *const requests = std::get<sizeof...(A) - 1>(arguments);
        return count < 0 || requests == nullptr ? call_mpi<F>(a...) // which is an error
                                                : activate(F, site, mode, count, requests);
    }

private:
    static int activate(Fn fn, const void *site, int mode, int count, MPI_Request *requests);
    static int replay(const Call &call, const cd_log_place &place, int count,
                      const MPI_Request *requests);
    static int refuse_suspended(const Call &call, const Request &request);
};

// MPI_Cancel.
class RequestCancel : public MovesData {
public:
    template <Fn F> static int call(const void *site, MPI_Request *request) {
        return ReentryGuard::mpi() || request == nullptr ? call_mpi<F>(request)
                                                         : run(site, request);
    }

private:
    static int run(const void *site, MPI_Request *request);
};

// MPI_Grequest_complete.
class GeneralizedComplete : public MovesData {
public:
    template <Fn F> static int call(const void *site, MPI_Request request) {
        return ReentryGuard::mpi() ? complete(request) : run(site, request);
    }

private:
    static int run(const void *site, MPI_Request request);
    static int complete(MPI_Request request);
};

} // namespace cd::logger
