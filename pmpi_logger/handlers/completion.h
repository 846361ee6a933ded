// SPDX-License-Identifier: BSD-3-Clause
// Copyright the containment-domains authors
#pragma once

#include "handlers/handler.h"
#include "payload/mpi_status.h"
#include "replay/divergence.h"
#include "replay/poll_counts.h"
#include "requests/request_table.h"

#include <span>
#include <tuple>

namespace cd::logger {

// How many requests a call is about.
enum class Shape { one, any, all, some };

// A call of the Wait and Test family.
struct CompletionCall {
    Call call;
    Shape shape = Shape::one;
    int count = 1;
    MPI_Request *requests = nullptr;
    int *flag = nullptr;  // a test's
    int *index = nullptr; // or how many
    int *indices = nullptr;
    MPI_Status *statuses = nullptr;
    MPI_Status *lent = nullptr; // the statuses that MPI writes: the program's, or ours
    bool single_status() const { return shape == Shape::one || shape == Shape::any; }
    bool ignores_statuses() const {
        return (single_status() && statuses == MPI_STATUS_IGNORE) ||
               (!single_status() && statuses == MPI_STATUSES_IGNORE);
    }
};

// Records calls of the Wait and Test family: which requests completed, statuses and data. A replay
// completes the same requests.
class Completion {
public:
    static constexpr bool guards_itself = true;

    struct Of {
        static constexpr Shape one = Shape::one;
        static constexpr Shape any = Shape::any;
        static constexpr Shape all = Shape::all;
        static constexpr Shape some = Shape::some;
    };

    template <Fn F, typename... A> static int call(const void *site, A... a) {
        return Logging::is_possible() || !RequestTable::empty() ? finish_guarded<F>(site, a...)
                                                                : real<F>(a...);
    }

private:
    // The role of the argument for one status or several.
    template <Fn F>
    static constexpr Role status_role = Row<F>::Roles::has(Role::status) ? Role::status
                                                                         : Role::statuses;

    // Handles calls while requests are tracked or there may be a log.
    template <Fn F, typename... A>
    [[gnu::noinline]] static int finish_guarded(const void *site, A... a) {
        return RecordFailure::guarded<F>([&]() __attribute__((always_inline)) {
            return finish<F>(site, a...);
        });
    }
    template <Fn F, typename... A>
    [[gnu::always_inline]] static int finish(const void *site, A... a) {
        const int mode = Logging::mode();
        if (ReentryGuard::mpi() || (mode == CD_LOG_OFF && RequestTable::empty())) {
            return call_mpi<F>(a...);
        }
        using Roles = typename Row<F>::Roles;
        std::tuple<A...> arguments(a...);
        int count = 1;
        MPI_Request *requests = nullptr;
        if constexpr (Roles::has(Role::length)) {
            count = std::get<Roles::index(Role::length)>(arguments);
            requests = std::get<Roles::index(Role::requests)>(arguments);
        } else {
            requests = std::get<Roles::index(Role::request)>(arguments);
        }
        const bool wrong_statuses = no_status(std::get<Roles::index(status_role<F>)>(arguments));
        if (count < 0 || (count > 0 && (wrong_statuses || !all_there<Roles>(arguments)))) {
            return call_mpi<F>(a...); // which is an error
        }
        RequestTable::Few few;
        if (mode == CD_LOG_OFF && RequestTable::instance().find_plain(requests, count, few)) {
            const ReentryGuard inside;
            const int result = call_mpi<F>(a...);
            RequestTable::instance().forget_ended(few, requests);
            return result;
        }
        return finish_tracked<F>(mode, site, count, requests, arguments);
    }

    // Returns whether all necessary pointers are given.
    template <typename Roles, typename Tuple> static bool all_there(const Tuple &arguments) {
        const auto is_there = [&]<Role R>() {
            if constexpr (Roles::has(R)) {
                return std::get<Roles::index(R)>(arguments) != nullptr;
            }
            return true;
        };
        return is_there.template operator()<Role::request>() &&
               is_there.template operator()<Role::requests>() &&
               is_there.template operator()<Role::flag>() &&
               is_there.template operator()<Role::index>() &&
               is_there.template operator()<Role::indices>();
    }

    template <Fn F, typename... A>
    [[gnu::noinline]] static int finish_tracked(int mode, const void *site, int count,
                                                MPI_Request *requests,
                                                std::tuple<A...> &arguments) {
        using Roles = typename Row<F>::Roles;
        CompletionCall completion;
        completion.call.fn = F;
        completion.call.site = site;
        completion.shape = Row<F>::of;
        completion.count = count;
        completion.requests = requests;
        if constexpr (Roles::has(Role::length)) {
            completion.call.add_word(static_cast<uint64_t>(count));
        }
        if constexpr (Roles::has(Role::flag)) {
            completion.flag = std::get<Roles::index(Role::flag)>(arguments);
        }
        if constexpr (Roles::has(Role::index)) {
            completion.index = std::get<Roles::index(Role::index)>(arguments);
        }
        if constexpr (Roles::has(Role::indices)) {
            completion.indices = std::get<Roles::index(Role::indices)>(arguments);
        }
        completion.statuses = std::get<Roles::index(status_role<F>)>(arguments);

        if (may_have_answer(mode)) {
            const int result = replay(completion);
            return result == run_live
                       ? std::apply([&](A... b) { return Completion::call<F>(site, b...); },
                                    arguments)
                       : result;
        }
        const ReentryGuard inside;
        lend(completion);
        std::get<Roles::index(status_role<F>)>(arguments) = completion.lent;
        const int result = std::apply([](A... b) { return call_mpi<F>(b...); }, arguments);
        settle(completion, result, mode == CD_LOG_RECORDING);
        return result;
    }

    // Prepares the MPI call: keeps the handles, which MPI overwrites, and puts stand-ins in their
    // places.
    static void lend(CompletionCall &completion);

    // Ends the MPI call: delivers data, records, and forgets completed requests.
    static void settle(CompletionCall &completion, int result, bool recording);
    static int replay(CompletionCall &completion);
};

// MPI_Request_get_status: reports completion and leaves the request.
class RequestStatus {
public:
    using Of = Completion::Of;

    template <Fn F>
    static int call(const void *site, MPI_Request request, int *flag, MPI_Status *status) {
        const int mode = Logging::mode();
        if (ReentryGuard::mpi() || flag == nullptr || no_status(status) ||
            (mode == CD_LOG_OFF && RequestTable::empty())) {
            return call_mpi<F>(request, flag, status);
        }
        return may_have_answer(mode) ? replay(site, request, flag, status)
                                     : run(site, request, flag, status, mode);
    }

private:
    static int run(const void *site, MPI_Request request, int *flag, MPI_Status *status, int mode);
    static int replay(const void *site, MPI_Request request, int *flag, MPI_Status *status);
};

// MPI_Request_get_status_any, _all and _some: ask about one request after another, so that the log
// has an entry of MPI_Request_get_status for each.
class RequestStatusOfMany {
public:
    using Of = Completion::Of;

    // Request: MPI_Request, which some headers declare const.
    template <Fn F, typename Request, typename... A>
    static int call(const void *site, int count, Request *requests, A... a) {
        const bool is_untracked = Logging::mode() == CD_LOG_OFF && RequestTable::empty();
        if (ReentryGuard::mpi() || is_untracked || count < 0 || requests == nullptr ||
            (... || is_mistaken(a))) {
            return call_mpi<F>(count, requests, a...);
        }
        if constexpr (Row<F>::of == Shape::any) {
            return any(site, {requests, static_cast<size_t>(count)}, a...);
        } else if constexpr (Row<F>::of == Shape::all) {
            return all(site, {requests, static_cast<size_t>(count)}, a...);
        } else {
            return some(site, {requests, static_cast<size_t>(count)}, a...);
        }
    }

private:
    using Requests = std::span<const MPI_Request>;

    static bool is_mistaken(const int *output) { return output == nullptr; }
    static bool is_mistaken(const MPI_Status *output) { return no_status(output); }

    static int any(const void *site, Requests requests, int *index, int *flag, MPI_Status *status);
    static int all(const void *site, Requests requests, int *flag, MPI_Status *statuses);
    static int some(const void *site, Requests requests, int *count, int *indices,
                    MPI_Status *statuses);
};

} // namespace cd::logger
