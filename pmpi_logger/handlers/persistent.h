// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/blocking.h"
#include "handlers/nonblocking.h"
#include "requests/request_table.h"
#include "rma/window_policy.h"

#include <tuple>

namespace cd::logger {

// Makes persistent requests, and tracks them with or without a log, since a CD may start them. A
// re-execution gets the same request; another one stands in for it if its buffers have moved.
//
// Sends, collective and partitioned requests use copies from the start in programs that use CDs: a
// restore need not wait for them, and one rank cannot make them again.
class PersistentBase : public MovesData {
protected:
    enum class Made { as_before, anew, failed, not_at_all };

    // Prepares what track() needs before the request is made, so that track() takes no memory.
    static Purpose purpose_for(const Call &call, Request::Kind kind);
    static void track(MPI_Request handle, Purpose &&purpose, Staging &&staging);
    static void record(const Call &call, int result, MPI_Request handle);
    // as_before: sets `handle`. anew: the call must be made, see moved().
    static Made replay(const Call &call, Request::Kind kind, MPI_Request *handle, int &result);
    static void moved(const Call &call, MPI_Request *handle, MPI_Request made);

    static Staging staging_of(const Call &call, const Purpose &purpose, bool has_send_buf);
    static void follow(const Call &call, bool has_send_buf, MPI_Request handle);
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
            const int result = answer(call, Roles::has(Role::send_buf), request, make);
            return result == run_live ? PersistentInit::call<F>(site, a...) : result;
        }
        Purpose purpose = purpose_for(call, K);
        Staging staging = staging_of(call, purpose, Roles::has(Role::send_buf));
        if (!staging.empty()) {
            stage_arguments<Roles>(call, arguments, staging);
        }
        const int result = make();
        if (result == MPI_SUCCESS) {
            track(*request, std::move(purpose), std::move(staging));
        }
        if (mode == CD_LOG_RECORDING) {
            record(call, result, result == MPI_SUCCESS ? *request : MPI_REQUEST_NULL);
        }
        return result;
    }

private:
    // Answers from the log; run_live if that has ended.
    template <typename Make>
    static int answer(const Call &call, bool has_send_buf, MPI_Request *request, const Make &make) {
        int result = MPI_SUCCESS;
        switch (replay(call, K, request, result)) {
        case Made::anew: {
            const MPI_Request before = *request;
            result = make();
            const MPI_Request made = *request;
            *request = before;
            moved(call, request, made);
            return result;
        }
        case Made::not_at_all:
            return run_live;
        case Made::as_before:
            follow(call, has_send_buf, *request);
            return result;
        default:
            return result;
        }
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
    static bool prepare(const Call &call, int count, MPI_Request *requests, int &result);
    static int start(int count, const MPI_Request *requests, int &started);
    static int replay(Call &call, int count, MPI_Request *requests);
};

class RequestCancel : public MovesData {
public:
    template <Fn F> static int call(const void *site, MPI_Request *request) {
        return ReentryGuard::mpi() || request == nullptr ? call_mpi<F>(request)
                                                         : run(site, request);
    }

private:
    static int run(const void *site, MPI_Request *request);
};

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
